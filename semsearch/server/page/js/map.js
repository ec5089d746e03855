/** The map view: an index's passages as points by meaning, the hits of what is in the box lit, a part to search in. */

import { get, getBlob, isAborted, Latest, post, servedIndexes } from "./api.js";
import { element, fill, say } from "./dom.js";
import { bindKeys, searchBox } from "./input.js";
import { numberOf, readPoints } from "./map_points.js";
import { MapScreen } from "./map_screen.js";
import { Legend, makeMap, noMapYet, passageItem } from "./map_side.js";
import { beginningOf, shortPath, sourceAddress, titleOf } from "./passages.js";
import { addressOf, go } from "./router.js";
import { notice, problemNotice } from "./widgets.js";

/** @import { Region } from "./map_painting.js" */
/** @import { Colouring } from "./map_side.js" */
/** @import { Hit, MapPassage } from "./passages.js" */
/** @import { Mounted } from "./router.js" */

/** What /v1/map answers. @typedef {{state: "absent" | "running" | "outdated" | "ready", of: number, colourings: Colouring[], regions: Region[]}} About */
/** A passage and the number of its point. @typedef {{passage: MapPassage, number: number}} Listed */

const HITS = 30;
const IN_VIEW = 12; // passages that are listed
const AT_ONCE = 2_000; // passages up to which a map is made without asking
const STILL = 300; // milliseconds after a movement before what is in view is listed
const RESTING = 70; // milliseconds on a point before it is shown

/** @param {HTMLElement} container @param {URLSearchParams} params @returns {Mounted} */
export function mount(container, params) {
  const view = new MapView(container);
  view.arrive(params);
  return { unmount: () => view.end(), update: (shown) => view.arrive(shown) };
}

class MapView {
  #ending = new AbortController();
  #index = "";
  /** @type {number[] | null} */
  #part = null;
  /** @type {Hit[]} */
  #hits = [];
  /** @type {Map<number, MapPassage>} */
  #known = new Map();
  #turn = 0;
  #pointedAt = -1;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #resting;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #still;

  /** @param {HTMLElement} container */
  constructor(container) {
    this.screen = new MapScreen({
      pointed: (number, x, y) => this.#pointed(number, x, y),
      clicked: (number) => void this.#open(number),
      chosen: (numbers) => this.#chosen(numbers),
      moved: () => this.#moved(),
    });
    this.legend = new Legend((by, count, isOff) => this.screen.colourBy(by, count, isOff));
    this.choice = element("select", { class: "field map-by", "aria-label": "Index", hidden: true, on: { change: () => this.#goTo(this.choice.value) } });
    this.card = element("div", { class: "map-card", hidden: true });
    this.told = element("p", { class: "map-told small", hidden: true });
    this.notice = element("div", { class: "map-notice", hidden: true });
    this.clearButton = button("Clear", "Search in the whole map (Esc)", () => this.screen.chooseAll());
    this.clearButton.hidden = true;
    this.tools = element(
      "div",
      { class: "map-tools", role: "group", "aria-label": "Map tools" },
      button("+", "Zoom in", () => this.screen.look("in")),
      button("−", "Zoom out", () => this.screen.look("out")),
      button("All", "Show the whole map (0)", () => this.screen.look("all")),
      button("This part", "Search in the visible part (v)", () => this.screen.chooseView()),
      this.clearButton,
    );
    this.heading = element("h2", { hidden: true });
    this.list = element("ol", { class: "map-list" });
    this.stage = element("div", { class: "map-stage" }, this.screen.node, this.tools, this.told, this.card, this.notice);
    this.side = element("aside", { class: "map-side", "aria-label": "Legend and passages" }, this.choice, this.legend.node, element("section", { "aria-label": "Passages" }, this.heading, this.list));
    fill(container, element("h1", { class: "unseen" }, "Map"), element("div", { class: "map" }, this.stage, this.side));
    this.asking = new Latest((query, signal) => this.#ask(query, signal), (query, answer) => this.#answered(query, answer), (_, problem) => fill(this.list, element("li", {}, problemNotice(problem))));
    this.listing = new Latest((numbers, signal) => this.#passages(numbers, signal), (_, passages) => this.#listed(passages), () => {});
    this.endings = [
      searchBox.tell({ typed: () => this.#typed(), entered: () => this.#typed() }),
      bindKeys([
        { keys: ["v"], says: "search in the visible part of the map", run: () => this.screen.chooseView() },
        { keys: ["Escape"], says: "", run: () => this.#escape(), inFields: false },
        { keys: ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"], says: "move the map, when it has the focus", run: () => false },
        { keys: ["+", "-", "0"], says: "zoom in, zoom out, show the whole map", run: () => false },
      ]),
    ];
  }

  end() {
    this.#ending.abort();
    this.asking.end();
    this.listing.end();
    clearTimeout(this.#resting);
    clearTimeout(this.#still);
    this.screen.end();
    for (const end of this.endings) end();
  }

  /** Show what an address says. @param {URLSearchParams} params */
  arrive(params) {
    searchBox.query = params.get("q") ?? "";
    void this.#load(params.get("index") ?? "");
  }

  /** @param {string} wanted */
  async #load(wanted) {
    const turn = ++this.#turn;
    const { signal } = this.#ending;
    try {
      const served = (await servedIndexes(signal)).filter(({ documents }) => documents > 0);
      const index = served.find(({ name }) => name === wanted) ?? served[0];
      if (turn !== this.#turn) return;
      if (!index) return this.#instead(notice("There is nothing to map", element("p", {}, "No index of this server has documents yet.")));
      this.choice.hidden = served.length < 2;
      fill(this.choice, ...served.map(({ name }) => element("option", { selected: name === index.name }, name)));
      if (this.#index === index.name && this.screen.points) return void this.#askAgain();
      this.#index = index.name;
      await this.#showMap(turn, signal);
    } catch (problem) {
      if (turn === this.#turn && !isAborted(problem)) this.#instead(problemNotice(problem, () => this.#load(wanted)));
    }
  }

  /** @param {number} turn @param {AbortSignal} signal */
  async #showMap(turn, signal) {
    let about = await get("/v1/map", { index: this.#index }, { signal });
    if (about.state === "absent" && about.of > AT_ONCE) return this.#instead(noMapYet(about.of, () => void this.#make(turn)));
    if (about.state === "absent" || about.state === "running") return this.#make(turn);
    await this.#showPoints(turn, about, signal);
    if (about.state !== "outdated") return;
    this.#tell("The index has changed: the map is being updated");
    about = await post("/v1/map", { index: this.#index }, { signal });
    await this.#showPoints(turn, about, signal);
    this.#tell("");
  }

  /** @param {number} turn */
  async #make(turn) {
    const { signal } = this.#ending;
    try {
      this.notice.hidden = false;
      this.screen.node.inert = true;
      const about = await makeMap(this.notice, this.#index, signal);
      await this.#showPoints(turn, about, signal);
      say("The map is ready");
    } catch (problem) {
      if (turn === this.#turn && !isAborted(problem)) this.#instead(problemNotice(problem, () => void this.#make(turn)));
    }
  }

  /** @param {number} turn @param {About} about @param {AbortSignal} signal */
  async #showPoints(turn, about, signal) {
    const bytes = await (await getBlob("/v1/map/points", { index: this.#index }, { signal })).arrayBuffer();
    if (turn !== this.#turn) return;
    this.notice.hidden = true;
    this.screen.node.inert = false;
    this.#known.clear();
    this.#part = null;
    this.screen.show(readPoints(bytes), about.regions);
    if (about.colourings.length) this.legend.show(about.colourings);
    this.#askAgain();
  }

  /** @param {Node} said */
  #instead(said) {
    this.notice.hidden = false;
    this.screen.node.inert = true;
    fill(this.notice, said);
  }

  /** @param {string} words */
  #tell(words) {
    this.told.hidden = !words;
    this.told.textContent = words;
    if (words) say(words);
  }

  // Questions

  /** @param {string} index */
  #goTo(index) {
    this.screen.points = null;
    go(addressOf("map", this.#params(index)));
  }

  #typed() {
    go(addressOf("map", this.#params(this.#index)), { replace: true, tell: false });
    this.#askAgain();
  }

  /** @param {string} index */
  #params(index) {
    return { index, ...(searchBox.query ? { q: searchBox.query } : {}) };
  }

  #askAgain() {
    if (!this.screen.points) return;
    if (searchBox.query.trim()) return this.asking.soon(searchBox.query);
    this.asking.end();
    this.#hits = [];
    this.screen.light([]);
    this.#moved();
  }

  /** @param {string} query @param {AbortSignal} signal */
  #ask(query, signal) {
    const ids = this.screen.points?.ids;
    const passages = this.#part && ids ? this.#part.map((number) => ids[number]) : null;
    return post("/v1/search", { query, index: this.#index, k: HITS, passages }, { signal });
  }

  /** @param {string} query @param {{hits: Hit[]}} answer */
  #answered(query, answer) {
    const { points } = this.screen;
    if (!points) return;
    this.listing.end();
    this.#hits = answer.hits;
    const numbers = this.#hits.map(({ passage_id }) => numberOf(points, passage_id));
    this.screen.light(this.#hits.map(({ rank }, at) => ({ number: numbers[at], rank })).filter(({ number }) => number >= 0));
    const where = this.#part ? " in this part" : "";
    this.heading.hidden = false;
    this.heading.textContent = this.#hits.length ? `The best ${this.#hits.length} passages${where}` : `No passage${where} answers this`;
    say(this.heading.textContent);
    fill(this.list, ...this.#hits.map((hit, at) => this.#item(hit, numbers[at], query)));
  }

  /** @param {Hit | MapPassage} passage @param {number} number @param {string} query */
  #item(passage, number, query) {
    return passageItem(passage, this.#index, query, {
      isOnMap: number >= 0,
      find: () => {
        this.screen.ring(number, true);
        this.screen.node.focus();
      },
      point: (on) => this.screen.ring(on ? number : -1),
    });
  }

  // What is in view

  #moved() {
    clearTimeout(this.#still);
    this.#hideCard();
    if (this.#hits.length || searchBox.query.trim()) return;
    this.#still = setTimeout(() => this.#listView(), STILL);
  }

  #listView() {
    const { total, numbers } = this.screen.inView(IN_VIEW);
    if (!this.screen.points) return;
    const what = this.#part ? "in this part and in view" : "in view";
    this.heading.hidden = false;
    this.heading.textContent = `${total.toLocaleString("en")} passages ${what}`;
    this.listing.now(numbers);
  }

  /** @param {number[]} numbers @param {AbortSignal} signal @returns {Promise<Listed[]>} */
  async #passages(numbers, signal) {
    const ids = this.screen.points?.ids;
    if (!ids) return [];
    const unknown = numbers.filter((number) => !this.#known.has(ids[number]));
    if (unknown.length) {
      const answer = await get("/v1/map/passages", { index: this.#index, ids: unknown.map((number) => ids[number]) }, { signal });
      for (const passage of answer.passages) this.#known.set(passage.passage_id, passage);
    }
    return numbers.flatMap((number) => {
      const passage = this.#known.get(ids[number]);
      return passage ? [{ passage, number }] : [];
    });
  }

  /** @param {Listed[]} passages */
  #listed(passages) {
    fill(this.list, ...passages.map(({ passage, number }) => this.#item(passage, number, "")));
  }

  // Pointing, opening, choosing a part

  /** @param {number} number @param {number} x @param {number} y */
  #pointed(number, x, y) {
    if (number === this.#pointedAt) return;
    this.#pointedAt = number;
    clearTimeout(this.#resting);
    this.#hideCard();
    if (number >= 0) this.#resting = setTimeout(() => void this.#showCard(number, x, y), RESTING);
  }

  /** @param {number} number @param {number} x @param {number} y */
  async #showCard(number, x, y) {
    const [found] = await this.#passages([number], this.#ending.signal).catch(() => []);
    if (!found || this.#pointedAt !== number) return;
    const { passage } = found;
    fill(
      this.card,
      element("p", { dir: "auto" }, element("strong", {}, titleOf(passage))),
      element("p", { class: "small", dir: "auto" }, beginningOf(passage.text, 220)),
      element("p", { class: "small soft" }, element("bdi", {}, shortPath(passage))),
    );
    this.card.hidden = false;
    const { clientWidth, clientHeight } = this.stage;
    const { offsetWidth, offsetHeight } = this.card;
    this.card.style.left = `${Math.max(4, x + 16 + offsetWidth > clientWidth ? x - 16 - offsetWidth : x + 16)}px`;
    this.card.style.top = `${Math.min(Math.max(4, y - offsetHeight / 2), Math.max(4, clientHeight - offsetHeight - 4))}px`;
  }

  #hideCard() {
    this.card.hidden = true;
  }

  /** Open the source of a point. @param {number} number */
  async #open(number) {
    const [found] = await this.#passages([number], this.#ending.signal).catch(() => []);
    if (!found) return;
    go(sourceAddress(found.passage, { query: searchBox.query, index: this.#index, mode: "hybrid", filters: [] }));
  }

  /** @param {number[] | null} numbers */
  #chosen(numbers) {
    this.#part = numbers;
    this.#tell(numbers ? `${numbers.length.toLocaleString("en")} passages chosen: only these are searched` : "");
    this.clearButton.hidden = !numbers;
    this.#askAgain();
  }

  #escape() {
    if (!this.#part) return false;
    this.screen.chooseAll();
  }
}

/** @param {string} label @param {string} says @param {() => void} run */
function button(label, says, run) {
  return element("button", { type: "button", class: "button", title: says, "aria-label": says.replace(/ \(.*\)$/, ""), on: { click: run } }, label);
}
