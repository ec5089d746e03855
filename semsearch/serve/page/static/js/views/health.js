// @ts-check
/** The health view: of each index what is stale, what was not read and why, how good it is, and what to do about it. */

import { get, isAborted } from "../api.js";
import { element, fill, say } from "../dom.js";
import { IndexReport } from "../health/index_report.js";
import { notice, problemNotice } from "../notices.js";

/** @param {HTMLElement} container @returns {() => void} */
export function mount(container) {
  const ending = new AbortController();
  const reports = element("div", { class: "reports" });
  fill(container, element("div", { class: "health" }, element("h1", {}, "Health"), reports));
  void show(reports, ending.signal);
  return () => ending.abort();
}

/** @param {HTMLElement} reports @param {AbortSignal} signal */
async function show(reports, signal) {
  try {
    const { indexes } = await get("/v1/indexes", {}, { signal });
    const made = indexes.map((/** @type {any} */ entry) => new IndexReport(entry, signal));
    fill(reports, made.length ? made.map((/** @type {IndexReport} */ each) => each.node) : none());
    for (const each of made) await each.load(); // one after the other: each looks at all files of its folders
    if (made.length) say(`${made.length} ${made.length === 1 ? "index" : "indexes"} looked at`);
  } catch (problem) {
    if (!isAborted(problem)) fill(reports, problemNotice(problem, () => void show(reports, signal)));
  }
}

function none() {
  return notice("There is no index yet", element("p", {}, element("code", {}, "semsearch index PATH"), " makes one."));
}
