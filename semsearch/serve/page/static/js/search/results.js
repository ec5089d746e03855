// @ts-check
/** The passages that answer, with what stands above them: how many, which filters hold, or why there are none. */

import { element, fill, hush, sayLater } from "../dom.js";
import { chips } from "../filters/chips.js";
import { problemNotice } from "../notices.js";
import { beforeQuestion, counted, hint, noAnswer, noDocuments, onlyWords } from "./empty.js";
import { HitList } from "./hit_list.js";
import { FEW, MODES, MOST } from "./state.js";

/** @typedef {import("./state.js").SearchState} SearchState */
/**
 * @typedef {object} ResultsUser
 * @property {(change: Partial<SearchState>) => void} choose a part of the state shall be another
 * @property {() => void} more more passages are wanted
 * @property {() => void} toFilters the filters are wanted
 */

const SETTLED = 600; // milliseconds without a letter after which the count is said

export class Results {
  /** @type {any[]} */
  hits = [];

  /** @param {ResultsUser} user */
  constructor(user) {
    this.user = user;
    this.list = new HitList();
    this.filters = element("button", { type: "button", class: "button filter-button", on: { click: user.toFilters } }, "Filters");
    this.count = element("p", { class: "count small soft" });
    this.mode = this.#modeChoice();
    this.chips = element("div", { class: "chips" });
    this.above = element("div", { class: "above" });
    this.more = element("button", { type: "button", class: "button more-hits", hidden: true, on: { click: user.more } }, "More passages");
    const bar = element("div", { class: "results-bar" }, this.filters, this.count, this.mode);
    this.node = element("section", { class: "results", "aria-label": "Passages" }, bar, this.chips, this.above, this.list.node, this.more);
  }

  #modeChoice() {
    const options = Object.entries(MODES).map(([value, label]) => element("option", { value }, label));
    const changed = (/** @type {any} */ event) => this.user.choose({ mode: event.target.value });
    return element("select", { class: "mode small", "aria-label": "Search by", on: { change: changed } }, options);
  }

  /** Show what is asked for. @param {SearchState} state */
  showAsked({ mode, filters }) {
    this.mode.value = mode;
    fill(this.chips, ...chips(filters, (left) => this.user.choose({ filters: left })));
    this.filters.textContent = filters.length ? `Filters (${filters.length})` : "Filters";
  }

  /** Whether an answer is under way; what was there stays. @param {boolean} isBusy */
  set busy(isBusy) {
    if (isBusy) this.node.setAttribute("aria-busy", "true");
    else this.node.removeAttribute("aria-busy");
  }

  /**
   * Show an answer; null: nothing was asked.
   * @param {SearchState} state @param {any} answer @param {import("../hits/context.js").HitContext} context
   * @param {{asked: import("./empty.js").IndexEntry[], served: import("./empty.js").IndexEntry[]}} indexes as far as they are known
   */
  showAnswer(state, answer, context, { asked, served }) {
    this.busy = false;
    this.hits = answer?.hits ?? [];
    this.list.show(this.hits, context);
    this.more.hidden = this.hits.length < state.count || state.count >= MOST;
    if (!this.hits.length && asked.every(({ documents }) => !documents)) fill(this.above, noDocuments(asked.length ? asked : served));
    else fill(this.above, answer ? this.#remark(state, answer.warnings ?? []) : beforeQuestion(asked));
    this.#tellCount(answer);
    if (state.count === FEW && !state.hit) scrollTo({ top: 0 });
  }

  /** @param {SearchState} state @param {string[]} warnings of the server @returns {import("../dom.js").Child} */
  #remark(state, warnings) {
    const cures = { filters: () => this.user.choose({ filters: [] }), mode: () => this.user.choose({ mode: "hybrid" }) };
    if (!this.hits.length) return noAnswer(state, warnings, cures);
    const byWords = state.mode === "hybrid" && this.hits.every(({ dense }) => dense === null);
    return byWords ? onlyWords() : warnings.map(hint);
  }

  /** Show how many there are at once, and say it when nobody types. @param {any} answer */
  #tellCount(answer) {
    const shown = answer ? counted(this.hits.length, "passage") : "";
    const where = answer && ` in ${answer.index ?? counted(answer.indexes.length, "index")}`;
    fill(this.count, shown, where && element("span", { class: "count-where" }, where));
    sayLater(shown, SETTLED);
  }

  /** Show what went wrong. What was there stays if `keeps` says so. @param {unknown} problem @param {() => void} again @param {boolean} keeps */
  showProblem(problem, again, keeps) {
    this.busy = false;
    hush();
    fill(this.above, problemNotice(problem, again));
    if (keeps) return;
    this.hits = [];
    fill(this.list.node);
    fill(this.count);
    this.more.hidden = true;
  }

  end() {
    hush();
  }
}
