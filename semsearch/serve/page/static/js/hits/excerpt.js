// @ts-check
/** What of a passage is shown at first: its sentence, and a little before and after. */

import { oneLine } from "./marking.js";

/** @typedef {import("./marking.js").Marked} Marked */

const BEFORE = 120; // characters
const SENTENCE = 700;
const AFTER = 180;
const SPARED = 60; // characters that are not worth leaving out

/** A passage cut to its sentence and its surroundings, with an ellipsis where something is left out. @param {Marked} marked @returns {Marked} */
export function excerptOf({ before, sentence, after }) {
  if (!sentence) return { before: beginningOf(before, BEFORE + SENTENCE), sentence, after };
  const shown = beginningOf(sentence, SENTENCE);
  return { before: endOf(before, BEFORE), sentence: shown, after: shown === sentence ? beginningOf(after, AFTER) : "" };
}

/** The beginning of a text that is too long, with an ellipsis. @param {string} text @param {number} room */
export function beginningOf(text, room) {
  if (text.length <= room + SPARED) return text;
  const cut = wholeCharacters(text.slice(0, room));
  const space = cut.search(/\s\S*$/);
  return `${(space > room / 2 ? cut.slice(0, space) : cut).replace(/[\s.,;:]+$/, "")} …`;
}

/** @param {string} text @param {number} room */
function endOf(text, room) {
  if (text.length <= room + SPARED) return text;
  const cut = text.slice(text.length - room).replace(/^[\udc00-\udfff]/, "");
  const space = cut.search(/\s/);
  return `… ${space >= 0 && space < room / 2 ? cut.slice(space + 1) : cut}`;
}

/** @param {string} text */
function wholeCharacters(text) {
  return text.replace(/[\ud800-\udbff]$/, "");
}

/** The sentences of `before` that come before the passage begins. @param {string[]} before @param {string} prefix of the passage, before the sentence */
export function earlier(before, prefix) {
  let left = oneLine(prefix);
  let first = before.length;
  while (first > 0 && left.endsWith(oneLine(before[first - 1]))) {
    left = left.slice(0, left.length - oneLine(before[first - 1]).length).trimEnd();
    first--;
  }
  return left ? [] : before.slice(0, first);
}

/** The sentences of `after` that come after the passage ends. @param {string[]} after @param {string} suffix of the passage, after the sentence */
export function later(after, suffix) {
  let left = oneLine(suffix);
  let first = 0;
  while (first < after.length && left.startsWith(oneLine(after[first]))) {
    left = left.slice(oneLine(after[first]).length).trimStart();
    first++;
  }
  return left ? [] : after.slice(first);
}
