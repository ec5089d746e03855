// @ts-check
/** What the search view says where there are no passages: before a question, without an index, without an answer. */

import { element } from "../dom.js";
import { notice } from "../notices.js";

/** @typedef {{name: string, documents: number, passages: number, problem: string}} IndexEntry */
/** @typedef {import("./state.js").SearchState} SearchState */

/** Before a question: what there is to ask. @param {IndexEntry[]} indexes that are chosen */
export function beforeQuestion(indexes) {
  const documents = indexes.reduce((sum, index) => sum + index.documents, 0);
  const passages = indexes.reduce((sum, index) => sum + index.passages, 0);
  return element(
    "section",
    { class: "welcome soft" },
    element("p", {}, `Ask a question, or describe what you look for: ${counted(passages, "passage")} of ${counted(documents, "document")} are searched.`),
    element("p", { class: "small" }, element("kbd", {}, "↓"), " to the answers, ", element("kbd", {}, "Enter"), " opens, ", element("kbd", {}, "?"), " shows all keys."),
  );
}

/** @param {IndexEntry[]} indexes */
export function noDocuments(indexes) {
  if (!indexes.length) return notice("There is no index yet", element("p", {}, "Make one of a folder of documents:"), command("semsearch index FOLDER"));
  const broken = indexes.filter(({ problem }) => problem);
  if (broken.length) return notice("This index cannot be read", broken.map(({ name, problem }) => element("p", {}, `${name}: ${problem}`)));
  return notice("This index is empty", element("p", {}, "Put documents into it:"), command(`semsearch index FOLDER --name ${indexes[0].name}`));
}

/** No passage answers: why, in the server's words if it has some. @param {SearchState} state @param {string[]} warnings @param {{filters: () => void, mode: () => void}} cures */
export function noAnswer({ filters, mode }, warnings, cures) {
  const isLexical = mode === "lexical";
  const isUnknown = !warnings.length && !isLexical && !filters.length;
  return notice(
    "No passage answers this",
    warnings.map(hint),
    isUnknown ? element("p", {}, "None of its words is known to the index. Try others, or a whole sentence.") : null,
    isLexical ? element("p", {}, "Only these very words were looked for. ", cure("Search by meaning too", cures.mode)) : null,
    filters.length ? element("p", {}, "Only what the filters let through was searched. ", cure("Remove the filters", cures.filters)) : null,
  );
}

/** Said above passages that were found by words alone. */
export function onlyWords() {
  return element("p", { class: "hint small" }, "No word of this is known by its meaning: these passages have the words themselves.");
}

/** What the server says of a question: a phrase that no passage has, a filter that matches nothing. @param {string} warning */
export function hint(warning) {
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

/** @param {number} count @param {string} thing */
export function counted(count, thing) {
  const things = thing.endsWith("x") ? `${thing}es` : `${thing}s`;
  return `${count.toLocaleString()} ${count === 1 ? thing : things}`;
}
