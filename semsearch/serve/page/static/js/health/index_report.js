// @ts-check
/** The report on one index: what there is to do, its facts, what was not read, and a button that brings it up to date. */

import { get, isAborted } from "../api.js";
import { element, fill } from "../dom.js";
import { problemNotice } from "../notices.js";
import { disk, facts, formats } from "./facts.js";
import { findings } from "./findings.js";
import { PagedList } from "./paged_list.js";
import { Syncing } from "./syncing.js";
import { counted } from "./words.js";

export class IndexReport {
  /** @param {{name: string, problem: string, roots: string[]}} entry @param {AbortSignal} signal */
  constructor(entry, signal) {
    this.entry = entry;
    this.signal = signal;
    this.id = `report-${reports++}`;
    this.syncing = new Syncing(entry.name, signal, () => void this.load());
    this.body = element("div", { class: "report-body" }, element("p", { class: "soft" }, "Looking at its files …"));
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
      fill(this.body, findings(checkup.findings), facts(checkup), element("div", { class: "two" }, formats(checkup), disk(checkup)), this.#lists());
    } catch (problem) {
      if (!isAborted(problem)) fill(this.body, problemNotice(problem, () => void this.load()));
    }
    this.node.removeAttribute("aria-busy");
  }

  #lists() {
    const index = this.entry.name;
    const problems = { path: "/v1/problems", index, field: "problems", none: "Every file was read." };
    const coverage = { path: "/v1/coverage", index, field: "coverage", none: "There are no documents." };
    return [
      new PagedList("What was not read, and why", problems, problemRow, this.signal).node,
      new PagedList("How much of each document was read", coverage, coverageRow, this.signal).node,
    ];
  }
}

let reports = 0;

/** @param {{path: string, kind: string, reason: string}} problem */
function problemRow(problem) {
  return [element("span", { class: "mono" }, problem.path), " ", element("span", { class: "soft" }, `${problem.kind}: ${problem.reason}`)];
}

/** @param {any} file */
function coverageRow(file) {
  const parts = [counted(file.sentences, "sentence")];
  if (file.characters !== null) parts.push(`${file.characters_taken.toLocaleString("en")} of ${file.characters.toLocaleString("en")} characters`);
  if (file.pages !== null) parts.push(`text on ${file.pages_with_text} of ${file.pages} pages`);
  if (file.words) parts.push(`${Math.round((100 * file.words_known) / file.words)} % of the words known`);
  return [element("span", { class: "mono" }, file.path), " ", element("span", { class: "soft" }, parts.join(", "))];
}
