// @ts-check
/** The facts of an index: counts, fit, recall; its formats and what takes its room as bars. */

import { element } from "../dom.js";
import { counted, size } from "./words.js";

/** @param {any} checkup */
export function facts(checkup) {
  const { status, known_words: known } = checkup;
  const pairs = {
    Folders: status.roots.join(", ") || "texts that programs added",
    Content: `${counted(status.documents, "document")}, ${counted(status.passages, "passage")}, ${counted(status.sentences, "sentence")}`,
    Fit: `${status.method}, ${counted(status.components, "component")} removed${status.drift === null ? "" : `, ${status.drift.toFixed(1)}° of drift`}`,
    Recall: status.scans.length ? status.scans.map(scan).join("; ") : "1, every passage is compared",
    Words: `${status.vectors_name}${known === null ? "" : `: ${Math.round(100 * known)} % of the words have a vector`}`,
    Written: `${counted(status.generation, "time")}, made ${status.created.slice(0, 10)}`,
  };
  return element("dl", { class: "facts" }, Object.entries(pairs).map(([name, fact]) => element("div", {}, element("dt", {}, name), element("dd", {}, fact))));
}

/** @param {any} one */
function scan(one) {
  return `${one.recall.toFixed(3)} of ${counted(one.vectors, "passage")} (${one.factory})`;
}

/** Documents by format. @param {any} checkup */
export function formats(checkup) {
  return bars("Formats", Object.entries(checkup.formats).map(([name, count]) => [name, count, counted(count, "document")]));
}

/** What takes how much room. @param {any} checkup */
export function disk(checkup) {
  return bars(`On the disk: ${size(checkup.status.size_bytes)}`, checkup.disk.map((/** @type {any} */ part) => [part.part, part.size_bytes, size(part.size_bytes)]));
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
