/** The search view: the passages that answer what is in the box, as one types, with filters and a source at their sides. */

import { ApiProblem, asParameter, isAborted, Latest, pause, post, ServedIndexes } from "./api.js";
import { element, fill } from "./dom.js";
import { facetsOf, FilterDrawer, FilterPanel } from "./filters.js";
import { HIT_ACTIONS } from "./hit_actions.js";
import { bindKeys, searchBox } from "./input.js";
import { nameOf, sourceParams } from "./passages.js";
import { FEW, MOST, paramsOf, Results, stateOf } from "./results.js";
import { addressOf, endView, go } from "./router.js";
import { problemNotice } from "./widgets.js";

/** @import { FacetGroups } from "./filters.js" */
/** @import { Binding } from "./input.js" */
/** @import { Hit, HitContext } from "./passages.js" */
/** @import { Found, SearchState } from "./results.js" */
/** @import { Mounted } from "./router.js" */

const SURROUNDING = 2; // sentences before and after
const STAYED = 120; // milliseconds after which a hit that one moves over is one that is looked at
const hasWords = (/** @type {string} */ query) => /[\p{L}\p{N}]/u.test(query);
const UNTIL_BACK = 2; // seconds between two tries where the server is gone

/** @param {HTMLElement} container @param {URLSearchParams} params @returns {Mounted} */
export function mount(container, params) {
  const view = new SearchView(container);
  view.arrive(params);
  searchBox.focus({ select: false });
  return { unmount: () => view.end(), update: (shown) => view.arrive(shown) };
}

class SearchView {
  /** @type {SearchState} */
  #state = stateOf(new URLSearchParams());
  #ending = new AbortController();
  #indexes = new ServedIndexes(this.#ending.signal);
  #isCommitted = false; // whether typing shall leave a step to go back to
  #valuesOfFacets = 10;
  /** @type {HitContext | null} of the hits that are shown */
  #context = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #following;

  /** @param {HTMLElement} container */
  constructor(container) {
    this.results = new Results({ choose: (change) => this.#choose(change), more: () => this.#more(), toFilters: () => this.#toFilters() });
    this.pane = new SourcePane(() => this.#look(""));
    this.panel = new FilterPanel({
      filter: (filters) => this.#choose({ filters }),
      toggle: (index) => this.#toggle(index),
      more: () => this.#moreFacets(),
    });
    this.side = element("aside", { class: "side", "aria-label": "Filters" }, this.panel.node);
    this.drawer = new FilterDrawer(this.side, this.panel.node);
    const columns = element("div", { class: "search" }, this.side, this.results.node, this.pane.node);
    fill(container, element("h1", { class: "unseen" }, "Search"), columns, this.drawer.dialog);
    this.asking = new Latest((state, signal) => this.#ask(state, signal), (state, answer) => this.#answered(state, answer), (state, problem) => this.#failed(state, problem));
    this.counting = new Latest((state, signal) => this.#count(state, signal), (state, groups) => this.#counted(state, groups), () => this.#counted(this.#state, null));
    const withoutLast = () => this.#choose({ filters: this.#state.filters.slice(0, -1) });
    this.endings = [
      searchBox.tell({ typed: () => this.#typed(), entered: () => this.#entered(), emptied: withoutLast }),
      bindKeys(this.#keys()),
    ];
  }

  /** @returns {Binding[]} */
  #keys() {
    const { list } = this.results;
    const actions = HIT_ACTIONS.map(({ name, key, says }) => ({ keys: [key], says, run: () => list.press(`[data-action="${name}"]`) }));
    return [
      { keys: ["ArrowDown"], says: "", run: () => this.#down(), inFields: true },
      { keys: ["ArrowUp"], says: "", run: () => this.#up(), inFields: true },
      { keys: ["j", "ArrowDown"], says: "next passage", run: () => this.#down() },
      { keys: ["k", "ArrowUp"], says: "previous passage", run: () => this.#up() },
      { keys: ["Enter"], says: "in the search box: go to the first passage; on a passage: open its source", run: () => false },
      { keys: ["m"], says: "show more or less of the passage", run: () => list.press(".act-more") },
      ...actions,
      { keys: ["f"], says: "go to the filters", run: () => this.#toFilters() },
      { keys: ["Escape"], says: "close the source, then return to the search box, then clear it", run: () => this.#escape(), inFields: true },
    ];
  }

  end() {
    this.#ending.abort();
    this.asking.end();
    this.counting.end();
    this.results.end();
    this.pane.close();
    clearTimeout(this.#following);
    for (const ending of this.endings) ending();
  }

  // What the user does

  /** Show what an address says. @param {URLSearchParams} params */
  arrive(params) {
    this.#state = stateOf(params);
    this.#isCommitted = this.#state.query !== "";
    searchBox.query = this.#state.query;
    this.#refresh();
  }

  #typed() {
    this.#state = { ...this.#state, query: searchBox.query, count: FEW, hit: "" };
    this.#write({ replace: !this.#isCommitted });
    this.#isCommitted = false;
    this.pane.close();
    this.results.busy = true;
    this.asking.soon(this.#state);
  }

  /** The question is meant as it is: typing another will leave it to go back to. */
  #entered() {
    this.#isCommitted = true;
    this.results.list.move(1);
  }

  /** Have a part of the state be another; one can go back to the one before. @param {Partial<SearchState>} change */
  #choose(change) {
    this.#state = { ...this.#state, count: FEW, hit: "", ...change };
    this.#write({ replace: false });
    this.#isCommitted = true;
    this.pane.close();
    this.#refresh();
  }

  /** Ask an index besides those that are chosen, or no longer. @param {string} index */
  #toggle(index) {
    const { indexes } = this.#state;
    const left = indexes.filter((name) => name !== index);
    this.#choose({ indexes: left.length < indexes.length ? left : [...indexes, index], filters: [] });
  }

  #more() {
    const { hits, list } = this.results;
    const at = hits.length;
    this.#state = { ...this.#state, count: Math.min(this.#state.count + FEW, MOST) };
    this.#write({ replace: true });
    void this.asking.now(this.#state).then(() => list.focus(list.cards[at]));
  }

  #moreFacets() {
    this.#valuesOfFacets *= 10;
    void this.counting.now(this.#state);
  }

  #down() {
    return this.results.list.move(1) && this.#follow();
  }

  #up() {
    if (!this.results.list.current) return false;
    if (!this.results.list.move(-1)) searchBox.focus();
    else this.#follow();
    return true;
  }

  #toFilters() {
    if (getComputedStyle(this.side).display === "none") this.drawer.open();
    else /** @type {HTMLElement | null} */ (this.panel.node.querySelector("button, input"))?.focus();
  }

  #escape() {
    if (this.pane.isOpen) return this.#look("");
    if (document.activeElement !== searchBox.input) return searchBox.focus();
    if (!searchBox.query) return false;
    searchBox.query = "";
    this.#typed();
  }

  /** @param {{replace: boolean}} how */
  #write(how) {
    go(addressOf("search", paramsOf(this.#state)), { ...how, tell: false });
  }

  // What the server says

  #refresh() {
    this.results.showAsked(this.#state);
    this.panel.filters = this.#state.filters;
    this.results.busy = true;
    void this.asking.now(this.#state);
    void this.counting.now(this.#state);
  }

  /** @param {SearchState} state @param {AbortSignal} signal @returns {Promise<Found | null>} null: there is nothing to ask */
  async #ask(state, signal) {
    const asked = await this.#indexes.asked(state);
    const { query, filters, mode, count } = state;
    const body = { query, index: asParameter(asked), filters, mode, k: count, context: SURROUNDING, origin: true };
    const answer = (mode === "exact" ? query.trim() : hasWords(query)) && asked.length ? await post("/v1/search", body, { signal }) : null;
    if (!answer?.hits.length) await this.#indexes.all(); // which say why
    return answer;
  }

  /** @param {SearchState} state @param {Found | null} answer */
  #answered(state, answer) {
    const { query, mode, filters } = state;
    this.#context = { query, mode, filters, index: answer?.index ?? "", open: (hit) => this.#openBeside(hit) };
    this.results.showAnswer(state, answer, this.#context, { asked: this.#indexes.entries(state), served: this.#indexes.known });
    this.#showLooked();
  }

  /** @param {SearchState} state @param {unknown} problem */
  #failed(state, problem) {
    const isGone = problem instanceof ApiProblem && problem.status === 0;
    this.results.showProblem(problem, () => this.#refresh(), isGone);
    if (isGone) void this.#askWhenBack(state);
  }

  /** Ask again as soon as the server is there again; until then what it last said stays. @param {SearchState} state */
  async #askWhenBack(state) {
    try {
      await pause(UNTIL_BACK, this.#ending.signal);
      if (state === this.#state) await this.asking.now(state);
    } catch (problem) {
      if (!isAborted(problem)) throw problem;
    }
  }

  /** @param {SearchState} state @param {AbortSignal} signal */
  async #count(state, signal) {
    await this.#indexes.all();
    const asked = await this.#indexes.asked(state);
    return asked.length ? facetsOf(asked, state.filters, this.#valuesOfFacets, signal) : null;
  }

  /** @param {SearchState} state @param {FacetGroups | null} found */
  #counted({ indexes }, found) {
    const choices = this.#indexes.known.map(({ name, documents }) => ({ name, documents, isChosen: indexes.includes(name) }));
    this.panel.show(choices, found?.groups ?? []);
  }

  // A hit's source beside the hits

  /** Look at a hit, or with "" at none. @param {string} name */
  #look(name) {
    this.#state = { ...this.#state, hit: name };
    this.#write({ replace: true });
    this.#showLooked();
  }

  /** @param {Hit} hit @returns {boolean} whether there is room */
  #openBeside(hit) {
    this.#isCommitted = true;
    if (!this.pane.fits || !this.#context) return false;
    this.#look(nameOf(hit, this.#context));
    return true;
  }

  /** Have the source beside the hits be that of the hit that has the focus now, once one stays there. */
  #follow() {
    clearTimeout(this.#following);
    const name = this.results.list.current?.dataset.hit;
    if (this.pane.isOpen && name) this.#following = setTimeout(() => this.#look(name), STAYED);
    return true;
  }

  /** Show the hit that is looked at, if it is among the hits. */
  #showLooked() {
    clearTimeout(this.#following);
    const { list, hits } = this.results;
    const context = this.#context;
    const hit = context && hits.find((each) => nameOf(each, context) === this.#state.hit);
    const card = hit && list.byName(this.#state.hit);
    for (const each of list.cards) each.classList.toggle("looked", each === card);
    if (!card) return this.#lookAtNone();
    list.focus(card);
    if (this.pane.fits) void this.pane.open(sourceParams(hit, context));
  }

  /** Close the source; the focus that was in it goes to the hits. */
  #lookAtNone() {
    const isInside = this.pane.node.contains(document.activeElement);
    this.pane.close();
    if (isInside) this.results.list.focus(this.results.list.cards[0]);
  }
}

// The source of a hit beside the hits

const WIDE = matchMedia("(min-width: 80rem)"); // as in css/search.css

/** The view of documents in a pane, where the screen is wide enough. */
class SourcePane {
  #turn = 0;
  /** @type {Mounted | null} */
  #mounted = null;

  /** @param {() => void} closed */
  constructor(closed) {
    this.body = element("div", { class: "pane-body" });
    this.alone = element("a", { class: "button quiet" }, "Full page");
    const close = element("button", { type: "button", class: "button quiet", "aria-label": "Close the source", on: { click: closed } }, "×");
    this.node = element("aside", { class: "source-pane", "aria-label": "Source", hidden: true }, element("div", { class: "pane-bar" }, this.alone, close), this.body);
  }

  /** Whether there is room for it. */
  get fits() {
    return WIDE.matches;
  }

  get isOpen() {
    return !this.node.hidden;
  }

  /** Show a source. @param {URLSearchParams} params */
  async open(params) {
    const mine = ++this.#turn;
    this.node.hidden = false;
    this.alone.setAttribute("href", addressOf("document", params));
    try {
      const view = await import("./document.js");
      if (mine !== this.#turn) return;
      this.#unmount();
      const mounted = await view.mount(this.body, params);
      if (mine === this.#turn) this.#mounted = mounted;
      else endView(mounted);
    } catch (problem) {
      if (mine === this.#turn) fill(this.body, problemNotice(problem));
    }
  }

  close() {
    this.#turn++;
    this.#unmount();
    fill(this.body);
    this.node.hidden = true;
  }

  #unmount() {
    if (this.#mounted) endView(this.#mounted);
    this.#mounted = null;
  }
}
