// @ts-check
/** Where a hit's sentence is in its passage. The passage may hold it with other whitespace, and more than once. */

/** @typedef {{before: string, sentence: string, after: string}} Marked */

/**
 * A passage in three parts, the sentence in the middle; with the passage as `before` if the sentence is not in it.
 * Of several places it is the one that follows `preceding`, the sentence before it, if that is known.
 * @param {string} passage @param {string} sentence @param {string} [preceding] @returns {Marked}
 */
export function markSentence(passage, sentence, preceding = "") {
  const places = placesOf(passage, sentence.trim().split(/\s+/).filter(Boolean));
  if (!places.length) return { before: passage, sentence: "", after: "" };
  const [start, end] = places.find(([first]) => endsWith(passage.slice(0, first), preceding)) ?? places[0];
  return { before: passage.slice(0, start), sentence: passage.slice(start, end), after: passage.slice(end) };
}

/** Where these words stand one after the other, whatever space is between them. @param {string} passage @param {string[]} words */
function placesOf(passage, words) {
  /** @type {[number, number][]} */
  const found = [];
  if (!words.length) return found;
  for (let first = passage.indexOf(words[0]); first >= 0; first = passage.indexOf(words[0], first + 1)) {
    const end = endOfWords(passage, first, words);
    if (end >= 0) found.push([first, end]);
  }
  return found;
}

/** @param {string} passage @param {number} at @param {string[]} words */
function endOfWords(passage, at, words) {
  for (const [number, word] of words.entries()) {
    if (number) at += /^\s*/.exec(passage.slice(at, at + 100))?.[0].length ?? 0;
    if (!passage.startsWith(word, at)) return -1;
    at += word.length;
  }
  return at;
}

/** @param {string} text @param {string} ending */
function endsWith(text, ending) {
  return ending !== "" && oneLine(text).endsWith(oneLine(ending));
}

/** A text with single spaces. @param {string} text */
export function oneLine(text) {
  return text.trim().replace(/\s+/gu, " ");
}

/**
 * A text whose lines were broken to a width, with spaces for those breaks: as long as before, so that places in it stay.
 * A paragraph of short or indented lines keeps them: it is a list, a poem, a table or code.
 * @param {string} text
 */
export function unwrapped(text) {
  return text
    .split(/(\n[^\S\n]*\n)/)
    .map((part) => (isBroken(part) ? part.replaceAll("\n", " ") : part))
    .join("");
}

const NARROWEST = 50; // characters of a line that somebody broke to a width

/** @param {string} paragraph */
function isBroken(paragraph) {
  const lines = paragraph.split("\n").slice(0, -1);
  return lines.every((line) => line.length >= NARROWEST) && !isIndented(paragraph) && !/\n[-*•|>#]/.test(paragraph);
}

/** Whether the space at the beginnings of lines means something, as in code. @param {string} text */
export function isIndented(text) {
  return /\n(?: {2,}|\t)\S/.test(text);
}
