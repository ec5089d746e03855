/** What is searched for, and the passages that answer, with what stands above them: how many, or why there are none. */

import { element, fill, hush, sayLater } from "./dom.js";
import { chips } from "./filters.js";
import { HitList } from "./hit_list.js";
import { counted, notice, problemNotice } from "./widgets.js";

/** @import { IndexEntry } from "./api.js" */
/** @import { Child } from "./dom.js" */
/** @import { Hit, HitContext, Mode } from "./passages.js" */

/**
 * `hit` is a passage that is looked at, as `index/id`; "" for none.
 * @typedef {{query: string, indexes: string[], filters: string[], mode: Mode, count: number, hit: string}} SearchState
 */

/** What /v1/search answers: `index` where one was asked, `indexes` where several were. @typedef {{verdict: "answers" | "perhaps" | "not here" | null, missing: string[], hits: Hit[], total?: Total, next: number | null, warnings?: string[], corrected?: {asked: string, instead: string}[], index: string | null, indexes?: string[]}} Found */

/** How often a text stands in an index, in mode "exact". @typedef {{occurrences: number, passages: number, documents: number}} Total */

/** The modes in the words of the page. @type {Record<Mode, string>} */
const MODES = { hybrid: "Meaning and words", dense: "Meaning", lexical: "Words", exact: "Exact text" };
export const FEW = 10; // passages at first
export const MOST = 100;

/** The state that an address says. @param {URLSearchParams} params @returns {SearchState} */
export function stateOf(params) {
  const mode = params.get("mode") ?? "";
  const count = Number(params.get("count")) || FEW;
  return {
    query: params.get("q") ?? "",
    indexes: params.getAll("index"),
    filters: params.getAll("filter"),
    mode: /** @type {Mode} */ (mode in MODES ? mode : "hybrid"),
    count: Math.min(Math.max(Math.round(count), 1), MOST),
    hit: params.get("hit") ?? "",
  };
}

/** The parameters of the address that says a state. @param {SearchState} state */
export function paramsOf({ query, indexes, filters, mode, count, hit }) {
  const params = new URLSearchParams();
  if (query) params.set("q", query);
  for (const index of indexes) params.append("index", index);
  for (const filter of filters) params.append("filter", filter);
  if (mode !== "hybrid") params.set("mode", mode);
  if (count !== FEW) params.set("count", String(count));
  if (hit) params.set("hit", hit);
  return params;
}

// The passages that answer

/**
 * @typedef {object} ResultsUser
 * @property {(change: Partial<SearchState>) => void} choose a part of the state shall be another
 * @property {() => void} more more passages are wanted
 * @property {() => void} toFilters the filters are wanted
 */

const SETTLED = 600; // milliseconds without a letter after which the count is said

/** The passages with what stands above and below them. */
export class Results {
  /** @type {Hit[]} */
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
    const changed = () => this.user.choose({ mode: /** @type {Mode} */ (this.mode.value) });
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
   * @param {SearchState} state @param {Found | null} answer @param {HitContext} context
   * @param {{asked: IndexEntry[], served: IndexEntry[]}} indexes as far as they are known
   */
  showAnswer(state, answer, context, { asked, served }) {
    this.busy = false;
    const isNearest = answer?.verdict === "not here";
    this.hits = (answer?.hits ?? []).slice(0, isNearest ? NEAREST : undefined);
    this.list.show(this.hits, { ...context, instead: answer?.corrected?.map((word) => word.instead).join(" ") }, isNearest);
    this.more.hidden = !answer?.next || state.count >= MOST || isNearest;
    if (!this.hits.length && asked.every(({ documents }) => !documents)) fill(this.above, noDocuments(asked.length ? asked : served));
    else fill(this.above, answer ? this.#remark(state, answer) : beforeQuestion(asked));
    this.#tellCount(answer);
    if (state.count === FEW && !state.hit) scrollTo({ top: 0 });
  }

  /** @param {SearchState} state @param {Found} answer @returns {Child} */
  #remark(state, { verdict, missing, warnings = [] }) {
    const cures = { filters: () => this.user.choose({ filters: [] }), mode: () => this.user.choose({ mode: "hybrid" }) };
    if (!this.hits.length) return noAnswer(state, warnings, cures);
    const byWords = state.mode === "hybrid" && this.hits.every(({ dense }) => dense === null);
    if (verdict === "not here" && this.hits.every(({ relevance }) => (relevance ?? 1) < FLOOR)) return noAnswer(state, warnings, cures);
    return [byWords ? onlyWords() : warnings.map(hint), doubt(verdict, missing)];
  }

  /** Show how many there are at once, and say it when nobody types. @param {Found | null} answer */
  #tellCount(answer) {
    const isNear = answer?.verdict === "not here" && this.hits.length > 0;
    const which = isNear ? "the nearest " : answer?.next ? "the best " : ""; // there may be more
    const shown = answer?.total ? this.#told(answer.total) : answer ? `${which}${counted(this.hits.length, "passage")}` : "";
    const where = answer && ` in ${answer.index ?? counted(answer.indexes?.length ?? 0, "index")}`;
    fill(this.count, shown, where && element("span", { class: "count-where" }, where));
    sayLater(isNear ? `nothing answers; ${shown}` : shown, SETTLED);
  }

  /** @param {Total} total */
  #told({ occurrences, passages, documents }) {
    const rest = this.hits.length < passages ? `; the first ${this.hits.length}` : "";
    return `${counted(occurrences, "occurrence")}, ${counted(passages, "passage")}, ${counted(documents, "document")}${rest}`;
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

// Where there are no passages: before a question, without an index, without an answer

/** Before a question: what there is to ask. @param {IndexEntry[]} indexes that are chosen */
function beforeQuestion(indexes) {
  const documents = indexes.reduce((sum, index) => sum + index.documents, 0);
  const passages = indexes.reduce((sum, index) => sum + index.passages, 0);
  return element(
    "section",
    { class: "welcome soft" },
    element("p", {}, `Ask a question, or describe what you are looking for. ${counted(passages, "passage")} of ${counted(documents, "document")} are searched.`),
    element("p", { class: "small keys-hint" }, element("kbd", {}, "↓"), " to the answers, ", element("kbd", {}, "Enter"), " opens, ", element("kbd", {}, "?"), " shows all keys."),
  );
}

/** @param {IndexEntry[]} indexes */
function noDocuments(indexes) {
  if (!indexes.length) return notice("There is no index yet", element("p", {}, "Create one from a folder of documents:"), command("semsearch index FOLDER"));
  const broken = indexes.filter(({ problem }) => problem);
  if (broken.length) return notice("This index cannot be read", broken.map(({ name, problem }) => element("p", {}, `${name}: ${problem}`)));
  return notice("This index is empty", element("p", {}, "Add documents to it:"), command(`semsearch index FOLDER --name ${indexes[0].name}`));
}

/** No passage answers: why, in the server's words if it has some. @param {SearchState} state @param {string[]} warnings @param {{filters: () => void, mode: () => void}} cures */
function noAnswer({ filters, mode }, warnings, cures) {
  const isLexical = mode === "lexical" || mode === "exact";
  const isUnknown = !warnings.length && !isLexical && !filters.length;
  return notice(
    "Nothing was found: no passage answers this",
    warnings.map(hint),
    isUnknown ? element("p", {}, "No passage answers this, or is even near it. Try other words, or a whole sentence.") : null,
    isLexical ? element("p", {}, mode === "exact" ? "Only this very text was searched for. " : "Only exact words were searched for. ", cure("Search by meaning too", cures.mode)) : null,
    filters.length ? element("p", {}, "Only documents that match the filters were searched. ", cure("Remove the filters", cures.filters)) : null,
  );
}

const NEAREST = 3; // passages that are shown where none answers, as on a terminal
const FLOOR = 0.005; // relevance below which a passage is not even near

/** Said above passages that do not answer, or perhaps. @param {Found["verdict"]} verdict @param {string[]} missing */
function doubt(verdict, missing) {
  if (verdict === "answers" || verdict === null) return null;
  const why = missing.length ? ` (no document has: ${missing.join(", ")})` : "";
  return element("p", { class: "only-nearest" }, verdict === "perhaps" ? `Perhaps among these${why}:` : `Nothing answers this${why}; nearest:`);
}

/** Said above passages that were found by words alone. */
function onlyWords() {
  return element("p", { class: "hint small" }, "No word of the query has a vector: these passages contain the words themselves.");
}

/** What the server says of a question: a phrase that no passage has, a filter that matches nothing. @param {string} warning */
function hint(warning) {
  return element("p", { class: "hint small" }, `${warning[0].toUpperCase()}${warning.slice(1)}${/[.?!]$/.test(warning) ? "" : "."}`);
}

/** @param {string} label @param {() => void} act */
function cure(label, act) {
  return element("button", { type: "button", class: "button", on: { click: act } }, label);
}

/** @param {string} text */
function command(text) {
  return element("pre", { class: "command" }, text);
}
