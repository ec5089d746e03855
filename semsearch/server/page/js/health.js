/** The health view: of each index what is stale, what was not read and why, how good it is, and what to do about it. */

import { ApiProblem, follow, get, isAborted, servedIndexes } from "./api.js";
import { element, fill, say } from "./dom.js";
import { copyButton, counted, notice, problemNotice } from "./widgets.js";

/** @import { IndexEntry } from "./api.js" */

// What the server answers; semsearch/results/state says what each is
/** @typedef {{level: "good" | "notice" | "warning", says: string, command: string}} Finding */
/**
 * @typedef {object} Status
 * @property {string[]} roots
 * @property {number} documents
 * @property {number} passages
 * @property {number} sentences
 * @property {string} method
 * @property {number} components
 * @property {number | null} fitted_sentences
 * @property {string} vectors_name
 * @property {number} generation
 * @property {string} created
 * @property {number} size_bytes
 */
/** @typedef {{status: Status, formats: Record<string, number>, disk: Record<string, number>, known_words: number | null, findings: Finding[]}} Checkup */
/** @typedef {{path: string, kind: string, reason: string}} Problem */
/** @typedef {{added: number, changed: number, moved: number, removed: number, unchanged: number, warnings: string[]}} SyncReport */

/** @param {HTMLElement} container @param {URLSearchParams} params the index that comes first @returns {() => void} */
export function mount(container, params) {
  const ending = new AbortController();
  const reports = element("div", { class: "reports" });
  fill(container, element("div", { class: "health" }, element("h1", {}, "Health"), reports));
  void show(reports, ending.signal, params.get("index"));
  return () => ending.abort();
}

/** @param {HTMLElement} reports @param {AbortSignal} signal @param {string | null} first */
async function show(reports, signal, first) {
  try {
    const entries = (await servedIndexes(signal)).sort((one, other) => Number(other.name === first) - Number(one.name === first));
    const made = entries.map((entry) => new IndexReport(entry, signal));
    fill(reports, made.length ? made.map(({ node }) => node) : none());
    for (const each of made) await each.load(); // one after the other: each looks at all files of its folders
    if (made.length) say(`${counted(made.length, "index")} checked`);
  } catch (problem) {
    if (!isAborted(problem)) fill(reports, problemNotice(problem, () => void show(reports, signal, first)));
  }
}

function none() {
  return notice("There is no index yet", element("p", {}, element("code", {}, "semsearch index PATH"), " creates one."));
}

// The report on one index

class IndexReport {
  /** @param {IndexEntry} entry @param {AbortSignal} signal */
  constructor(entry, signal) {
    this.entry = entry;
    this.signal = signal;
    this.id = `report-${nextReport++}`;
    this.syncing = new Syncing(entry.name, signal, () => void this.load());
    this.body = element("div", { class: "report-body" }, element("p", { class: "soft" }, "Checking its files …"));
    this.node = element("article", { class: "report", "aria-labelledby": this.id, "aria-busy": "true" }, this.#head(), this.body);
  }

  #head() {
    return element("header", { class: "report-head" }, element("h2", { id: this.id }, this.entry.name), this.entry.roots.length > 0 && this.syncing.node);
  }

  /** Ask for the health of the index and show it. */
  async load() {
    this.node.setAttribute("aria-busy", "true");
    try {
      const checkup = await get("/v1/checkup", { index: this.entry.name }, { signal: this.signal });
      fill(this.body, findings(checkup.findings), facts(checkup), element("div", { class: "two" }, formats(checkup), disk(checkup)), new ProblemList(this.entry.name, this.signal).node);
    } catch (problem) {
      if (!isAborted(problem)) fill(this.body, problemNotice(problem, () => void this.load()));
    }
    this.node.removeAttribute("aria-busy");
  }
}

let nextReport = 0;

/** @param {Problem} problem */
function problemRow(problem) {
  return [element("span", { class: "mono" }, problem.path), " ", element("span", { class: "soft" }, `${problem.kind}: ${problem.reason}`)];
}

// What there is to do, each with the command that mends it

const LEVELS = { good: "Good", notice: "Note", warning: "To do" };

/** @param {Finding[]} found */
function findings(found) {
  return element("ul", { class: "findings" }, found.map(finding));
}

/** @param {Finding} found */
function finding(found) {
  const level = element("span", { class: `level of-${found.level}` }, LEVELS[found.level]);
  return element("li", { class: "finding" }, level, element("div", {}, element("p", {}, found.says), found.command && command(found.command)));
}

/** A command that can be copied. @param {string} text */
function command(text) {
  const button = copyButton("Copy", text, "Select it", { class: "button quiet", "aria-label": `Copy the command ${text}` });
  return element("div", { class: "to-copy" }, element("code", {}, text), button);
}

// The facts of an index: counts, fit; formats and disk space as bars

/** @param {Checkup} checkup */
function facts(checkup) {
  const { status, known_words: known } = checkup;
  const pairs = {
    Folders: status.roots.join(", ") || "texts added by programs",
    Content: `${counted(status.documents, "document")}, ${counted(status.passages, "passage")}, ${counted(status.sentences, "sentence")}`,
    Fit: `${status.method}, ${counted(status.components, "component")} removed`,
    Words: `${status.vectors_name}${known === null ? "" : `: ${Math.round(100 * known)}% of the words have a vector`}`,
    Written: `${counted(status.generation, "time")}, created ${status.created.slice(0, 10)}`,
  };
  return element("dl", { class: "facts" }, Object.entries(pairs).map(([name, fact]) => element("div", {}, element("dt", {}, name), element("dd", {}, fact))));
}

/** Documents by format. @param {Checkup} checkup */
function formats(checkup) {
  return bars("Formats", Object.entries(checkup.formats).map(([name, count]) => [name, count, counted(count, "document")]));
}

/** What takes how much room. @param {Checkup} checkup */
function disk(checkup) {
  return bars(`Disk space: ${size(checkup.status.size_bytes)}`, Object.entries(checkup.disk).map(([part, bytes]) => [part, bytes, size(bytes)]));
}

/** @param {string} heading @param {[string, number, string][]} rows */
function bars(heading, rows) {
  const most = Math.max(1, ...rows.map(([, number]) => number));
  return element("section", { class: "bars" }, element("h3", {}, heading), element("ul", {}, rows.map(([name, number, shown]) => bar(name, number / most, shown))));
}

/** @param {string} name @param {number} share @param {string} shown */
function bar(name, share, shown) {
  const filled = element("span", { class: "bar-filled" });
  filled.style.inlineSize = `${(100 * share).toFixed(1)}%`;
  return element("li", {}, element("span", {}, name), element("span", { class: "soft" }, shown), element("span", { class: "bar-line", "aria-hidden": "true" }, filled));
}

// The problems of an index

const PAGE = 50;

/** The files that could not be read: a list that is asked for when it is opened, a page at a time. */
class ProblemList {
  #offset = 0;

  /** @param {string} index @param {AbortSignal} signal */
  constructor(index, signal) {
    this.index = index;
    this.signal = signal;
    this.list = element("ul", { class: "paged" });
    this.more = element("button", { type: "button", class: "button", hidden: true, on: { click: () => void this.#next() } }, "More");
    this.trouble = element("div", {});
    this.node = element("details", { class: "paged-list", on: { toggle: () => this.#opened() } }, element("summary", {}, "Files that could not be read, and why"), this.list, this.trouble, this.more);
  }

  #opened() {
    if (this.node.open && this.list.childElementCount === 0) void this.#next();
  }

  async #next() {
    this.more.disabled = true;
    fill(this.trouble);
    try {
      const answer = await get("/v1/problems", { index: this.index, offset: this.#offset, limit: PAGE }, { signal: this.signal });
      const problems = answer.problems;
      this.list.append(...problems.map((/** @type {Problem} */ problem) => element("li", {}, problemRow(problem))));
      if (this.list.childElementCount === 0) this.list.append(element("li", { class: "soft" }, "Every file was read."));
      this.#offset = answer.next ?? this.#offset;
      this.more.hidden = answer.next === null;
      say(`${problems.length} more`);
    } catch (problem) {
      if (!isAborted(problem)) fill(this.trouble, problemNotice(problem, () => void this.#next()));
    }
    this.more.disabled = false;
  }
}

// Bringing an index up to date

/** @type {Record<string, string>} */
const PHASES = { looking: "Scanning files", reading: "Reading", embedding: "Embedding", writing: "Writing", recognizing: "Recognizing text" };

/** A button that brings an index up to date, with its progress; the server asks for its token. */
class Syncing {
  /** @param {string} index @param {AbortSignal} signal @param {() => void} done */
  constructor(index, signal, done) {
    this.index = index;
    this.signal = signal;
    this.done = done;
    this.button = element("button", { type: "button", class: "button", on: { click: () => void this.#run() } }, "Bring up to date now");
    this.told = element("div", { class: "sync-told" });
    this.node = element("div", { class: "syncing" }, this.button, this.told);
  }

  async #run() {
    this.button.disabled = true;
    const bar = element("progress", { "aria-label": `Progress of ${this.index}`, max: "1" });
    const phase = element("span", { class: "soft small" }, "Waiting");
    fill(this.told, bar, phase);
    try {
      await follow("/v1/sync", { index: this.index }, (name, data) => this.#event(name, data, bar, phase), { signal: this.signal });
    } catch (problem) {
      if (!isAborted(problem)) fill(this.told, problemNotice(problem));
    }
    this.button.disabled = false;
  }

  /** @param {string} name @param {any} data @param {HTMLProgressElement} bar @param {HTMLElement} phase */
  #event(name, data, bar, phase) {
    if (name === "progress") {
      const [done, all] = data.phase === "embedding" ? [data.sentences, data.total_sentences] : [data.files, data.total_files];
      if (all) bar.value = done / all;
      else bar.removeAttribute("value");
      phase.textContent = `${PHASES[data.phase] ?? data.phase}${all ? ` ${done.toLocaleString("en")} of ${all.toLocaleString("en")}` : ""}`;
    } else if (name === "report") {
      const sentence = told(data);
      fill(this.told, element("p", {}, sentence), data.warnings.map((/** @type {string} */ each) => element("p", { class: "small" }, each)));
      say(sentence);
      this.done();
    } else if (name === "problem") {
      fill(this.told, problemNotice(new ApiProblem(data.status ?? 500, data.title ?? "The request failed", data.detail ?? "")));
    }
  }
}

/** @param {SyncReport} report */
function told(report) {
  const kinds = /** @type {const} */ (["added", "changed", "moved", "removed"]);
  const parts = kinds.filter((kind) => report[kind]).map((kind) => `${report[kind].toLocaleString("en")} ${kind}`);
  return `${parts.join(", ") || "No changes"}; ${counted(report.unchanged, "document")} unchanged`;
}

/** @param {number} bytes */
function size(bytes) {
  for (const unit of ["bytes", "kB", "MB"]) {
    if (bytes < 1000) return `${unit === "bytes" || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${unit}`;
    bytes /= 1000;
  }
  return `${bytes.toFixed(1)} GB`;
}
