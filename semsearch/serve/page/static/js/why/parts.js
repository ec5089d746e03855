// @ts-check
/** The parts of a score as an explanation has them, in words: a tree whose numbers add up at each level. */

import { apportioned, inUnits } from "./rounding.js";

/**
 * A part of a score. `points` is exact, `units` what is shown of it; `how` says what it is made of.
 * @typedef {object} ScorePart
 * @property {string} name of its class: words, meaning, near, rerank
 * @property {string} label
 * @property {string} how
 * @property {number} points
 * @property {number} units
 * @property {ScorePart[]} parts
 */
/** @typedef {Omit<ScorePart, "units" | "parts"> & {parts?: Unrounded[]}} Unrounded */

/** The parts of the score that an explanation explains. @param {any} explanation @returns {ScorePart[]} */
export function scoreParts(explanation) {
  const { lexical, dense, near, rerank } = explanation;
  const parts = [lexical && ofWords(lexical, explanation.mode), dense && ofMeaning(dense), near && ofNearness(near), rerank && ofReranker(rerank)].filter(Boolean);
  return rounded(/** @type {Unrounded[]} */ (parts), inUnits(explanation.score));
}

/** The words of the question that the passage does not have, nor those beside it. @param {any} explanation @returns {string[]} */
export function absentWords({ lexical }) {
  return lexical ? lexical.terms.filter((/** @type {any} */ term) => !term.score).map((/** @type {any} */ term) => term.word) : [];
}

/** @param {Unrounded[]} parts @param {number} sum in units @returns {ScorePart[]} */
function rounded(parts, sum) {
  const units = apportioned(parts.map(({ points }) => points), sum);
  return parts.map((part, at) => ({ ...part, units: units[at], parts: rounded(part.parts ?? [], units[at]) }));
}

/** @param {any} lexical @param {string} mode @returns {Unrounded} */
function ofWords({ points, weight, bm25, best, terms }, mode) {
  const how = mode === "lexical" ? "the sum of the words (BM25)" : `${plain(weight)} × ${bm25.toFixed(2)} of at best ${best.toFixed(2)} (BM25)`;
  const there = terms.filter((/** @type {any} */ term) => term.score);
  return {
    name: "words",
    label: "Words in common",
    how,
    points,
    parts: there.map((/** @type {any} */ term) => ({
      name: "words",
      label: `“${term.word}”`,
      how: occurrences(term),
      points: (weight * term.score) / best,
    })),
  };
}

/** @param {any} term */
function occurrences({ count, beside }) {
  const here = count ? `counts ${times(count)}` : "";
  const near = beside ? `${times(beside)} in the passages beside it` : "";
  return [here, near].filter(Boolean).join(", ");
}

/** @param {number} count */
function times(count) {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

/** @type {Record<string, string>} */
const COMPARED = { topics: "Topics", passage: "The passage", sentence: "Its best sentence", title: "The document's title" };

/** @param {any} dense @returns {Unrounded} */
function ofMeaning({ points, weight, cosine, cosines }) {
  return {
    name: "meaning",
    label: "Meaning",
    how: weight === 1 ? "the mean of the cosines" : `${plain(weight)} × ${cosine.toFixed(3)} (cosine)`,
    points,
    parts: cosines.map((/** @type {any} */ each) => ({
      name: "meaning",
      label: COMPARED[each.of] ?? each.of,
      how: `cosine ${each.cosine.toFixed(3)}, of which ${plain(each.weight)} counts`,
      points: weight * each.weight * each.cosine,
    })),
  };
}

/** @param {any} near @returns {Unrounded} */
function ofNearness({ points, weight, cosine, passages }) {
  const those = passages.length === 1 ? "the passage that answers best" : `the ${passages.length} passages that answer best`;
  return { name: "near", label: "Near the best answers", how: `${plain(weight)} × ${cosine.toFixed(3)}, the mean cosine with ${those}`, points };
}

/** @param {any} rerank @returns {Unrounded} */
function ofReranker({ points, weight, said, mean, deviation }) {
  return { name: "rerank", label: "Second look", how: `${plain(weight)} × (${said.toPrecision(3)} − ${mean.toPrecision(3)}) / ${deviation.toPrecision(3)}, by the reranker`, points };
}

/** A weight, as short as it can be told. @param {number} weight */
function plain(weight) {
  return String(Number(weight.toPrecision(3)));
}
