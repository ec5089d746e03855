// @ts-check
/** A passage of a document as elements: headings that are new, its text with the answers marked, places in the margin. */

import { element } from "../dom.js";
import { isIndented, unwrapped } from "../hits/marking.js";
import { isLineless } from "../hits/place.js";
import { offsetsIn } from "./offsets.js";

/** @typedef {{sentence_id: number, start: number, end: number, line: number, place: string | null}} PlacedSentence */
/** @typedef {{passage_id: number, headings: string[], page: number | null, text: string, sentences: PlacedSentence[]}} PlacedPassage */

/**
 * @param {PlacedPassage} passage @param {PlacedPassage | null} before the passage before it, if that is known
 * @param {{format: string, headingTag: "h2" | "h3", marked: (sentence: number) => boolean}} how
 */
export function passageElement(passage, before, { format, headingTag, marked }) {
  return element(
    "div",
    { class: "passage", "data-passage": passage.passage_id, "data-where": whereOf(passage) },
    newHeadings(passage, before).map(([depth, heading]) =>
      element(headingTag, { class: "source-heading", "data-depth": depth, dir: "auto" }, heading),
    ),
    element(
      "p",
      { class: isIndented(passage.text) ? "source-text verbatim" : "source-text", dir: "auto" },
      pieces(passage, markersOf(passage, before, format), marked),
    ),
  );
}

/** The headings and the page of a passage. @param {PlacedPassage} passage */
function whereOf({ headings, page }) {
  return [headings.join(" › "), page === null ? "" : `p. ${page}`].filter(Boolean).join(" · ");
}

/** The headings above a passage that the one before it does not have, with their depths. @param {PlacedPassage} passage @param {PlacedPassage | null} before @returns {[number, string][]} */
function newHeadings({ headings }, before) {
  const same = before ? headings.findIndex((heading, at) => heading !== before.headings[at]) : 0;
  if (same < 0) return [];
  return headings.slice(same).map((heading, at) => [Math.min(same + at + 1, 6), heading]);
}

/** What stands in the margin, by the number of the sentence. @param {PlacedPassage} passage @param {PlacedPassage | null} before @param {string} format @returns {Map<number, string>} */
function markersOf(passage, before, format) {
  /** @type {Map<number, string>} */
  const markers = new Map();
  let last = before?.sentences.at(-1)?.place ?? null;
  for (const [number, { place, line }] of passage.sentences.entries()) {
    const words = [];
    if (number === 0 && passage.page !== null && passage.page !== before?.page) words.push(`p. ${passage.page}`);
    if (place !== null && place !== last && format !== "pdf" && !isNamed(place, passage.headings)) words.push(place);
    if (number === 0 && !words.length && !isLineless(format)) words.push(`line ${line}`);
    if (words.length) markers.set(number, words.join(", "));
    last = place;
  }
  return markers;
}

/** Whether the heading above says a place already, as that of a function does. @param {string} place @param {string[]} headings */
function isNamed(place, headings) {
  return headings.at(-1)?.includes(place.split(".").at(-1) ?? place) ?? false;
}

/** The text in pieces: as it is, marked, and with markers before sentences. @param {PlacedPassage} passage @param {Map<number, string>} markers @param {(sentence: number) => boolean} marked */
function pieces(passage, markers, marked) {
  const text = unwrapped(passage.text);
  const offset = offsetsIn(text);
  const made = [];
  let done = 0;
  for (const [number, { sentence_id, start, end }] of passage.sentences.entries()) {
    const marker = markers.get(number);
    const isMarked = marked(sentence_id);
    if (!marker && !isMarked) continue;
    const first = offset(start);
    made.push(text.slice(done, first));
    done = first;
    if (marker) made.push(element("span", { class: "source-place", title: marker }, marker), " ");
    if (!isMarked) continue;
    done = offset(end);
    made.push(element("mark", { "data-sentence": sentence_id, tabindex: "-1" }, text.slice(first, done)));
  }
  made.push(text.slice(done));
  return made;
}
