/** An explanation of a score: its parts as bars, each beginning where the one before it ends, and notes. */

import { element } from "./dom.js";

/** @import { Mode } from "./passages.js" */

// What /v1/explain answers; semsearch/results/explanation.py says what each number is
/** @typedef {{word: string, count: number, beside: number, score: number}} Term */
/** @typedef {{of: string, cosine: number, weight: number}} Cosine */
/** @typedef {{dense: number, lexical: number, best: number, near: number}} Weights */
/** @typedef {{points: number, weight: number, said: number, mean: number, deviation: number}} Rerank */
/** @typedef {{points: number, parts: {text: string, as_typed: boolean, passages: number}[]}} Exact */
/** @typedef {{probability: number, cosine: number | null, trust: number | null, words: number | null, share: number, unknown: number}} Relevance */
/**
 * @typedef {object} Explanation
 * @property {Mode} mode
 * @property {number} score
 * @property {Record<string, number>} points
 * @property {Weights} weights
 * @property {Term[]} terms
 * @property {Cosine[]} cosines
 * @property {string[]} unknown
 * @property {Rerank} [rerank]
 * @property {Record<string, string>} quoted_for
 * @property {Exact} [exact]
 * @property {Relevance | null} [relevance]
 */

/** The elements that show an explanation. @param {Explanation} explanation */
export function explained(explanation) {
  return [
    element("h3", { class: "panel-heading" }, "Why it matched"),
    scoreTable(scoreParts(explanation), explanation.score),
    notes(explanation),
  ];
}

/** @param {Explanation} explanation */
function notes(explanation) {
  const absent = absentWords(explanation);
  const unknown = explanation.unknown;
  const aligned = Object.entries(explanation.quoted_for);
  const lines = [
    explanation.relevance ? likelihood(explanation.relevance) : "",
    aligned.length ? `Quoted for: ${aligned.map(([word, there]) => (word === there ? word : `${word} → ${there}`)).join(", ")}` : "",
    absent.length ? `Not in the passage: ${absent.join(", ")}` : "",
    unknown.length ? `Out of vocabulary: ${unknown.join(", ")}` : "",
  ].filter(Boolean);
  return lines.map((line) => element("p", { class: "why-note small soft", dir: "auto" }, line));
}

/** How likely the passage answers, and from what that follows. @param {Relevance} relevance */
function likelihood({ probability, cosine, trust, words, share, unknown }) {
  const parts = [
    cosine === null ? "" : `cosine ${cosine.toFixed(3)} × ${(trust ?? 0).toFixed(2)}`,
    words === null ? "" : `words ${words.toFixed(2)}`,
    `${Math.round(100 * share)}% of the best score`,
    unknown ? `${Math.round(100 * unknown)}% of the words unknown` : "",
  ];
  return `${Math.round(100 * probability)}% likely to answer: ${parts.filter(Boolean).join(", ")}`;
}

// The parts of a score, in words

/**
 * A part of a score: `name` is of its class (words, meaning, near, rerank, exact), `how` says what it is made of.
 * @typedef {{name: string, label: string, how: string, points: number, parts?: ScorePart[]}} ScorePart
 */

/** The parts of the score that an explanation explains. @param {Explanation} explanation @returns {ScorePart[]} */
function scoreParts(explanation) {
  const { points, weights, terms, cosines, rerank, exact } = explanation;
  return Object.entries(points).map(([stage, given]) => {
    if (stage === "lexical") return ofWords(given, weights, terms, explanation.mode);
    if (stage === "dense") return ofMeaning(given, weights.dense, cosines);
    if (stage === "rerank" && rerank) return ofReranker(rerank);
    if (stage === "exact" && exact) return ofExactWords(exact);
    const [label, how] = STAGES[stage] ?? [stage, ""];
    return { name: stage === "feedback" ? "near" : "support", label, how, points: given };
  });
}

/** The other stages, and what they give points for. @type {Record<string, [string, string]>} */
const STAGES = {
  feedback: ["Relevance feedback", "nearness to the passage that answers best"],
  short: ["A short passage", "may say little"],
  proximity: ["Proximity", "words of the query side by side"],
  support: ["Its document", "other good passages of it"],
  long: ["A long document", "has more passages to match by chance"],
  crowding: ["Its document", "has better hits already"],
  boosts: ["Boosts", ""],
  exchanged: ["The fact", "its sentence is shown for its document"],
};

/** The words of the question that the passage does not have, nor those beside it. @param {Explanation} explanation @returns {string[]} */
function absentWords({ terms }) {
  return terms.filter((term) => !term.score).map((term) => term.word);
}

/** @param {number} points @param {Weights} weights @param {Term[]} terms @param {Mode} mode @returns {ScorePart} */
function ofWords(points, { lexical, best }, terms, mode) {
  const bm25 = sum(terms.map(({ score }) => score));
  const how = mode === "lexical" ? "the sum of the words (BM25)" : `${plain(lexical)} × ${bm25.toFixed(2)} / ${best.toFixed(2)} (BM25 / best BM25)`;
  const there = terms.filter((term) => term.score);
  const parts = there.map((term) => ({ name: "words", label: `“${term.word}”`, how: occurrences(term), points: (lexical * term.score) / best }));
  return { name: "words", label: "Words in common", how, points, parts };
}

/** @param {Term} term */
function occurrences({ count, beside }) {
  const here = count ? `counts ${times(count)}` : "";
  const near = beside ? `${times(beside)} ${count ? "" : "in the passages "}beside it` : "";
  return [here, near].filter(Boolean).join(", ");
}

/** @param {number} count */
function times(count) {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

/** @type {Record<string, string>} */
const COMPARED = { topics: "Topics", passage: "The passage", sentence: "Its best sentence", title: "The document's title" };

/** @param {number} points @param {number} weight @param {Cosine[]} cosines @returns {ScorePart} */
function ofMeaning(points, weight, cosines) {
  const cosine = sum(cosines.map((part) => part.weight * part.cosine));
  return {
    name: "meaning",
    label: "Meaning",
    how: weight === 1 ? "the mean of the cosines" : `${plain(weight)} × ${cosine.toFixed(3)} (cosine)`,
    points,
    parts: cosines.map((part) => ({
      name: "meaning",
      label: COMPARED[part.of] ?? part.of,
      how: `cosine ${part.cosine.toFixed(3)}, weight ${plain(part.weight)}`,
      points: weight * part.weight * part.cosine,
    })),
  };
}

/** @param {Rerank} rerank @returns {ScorePart} */
function ofReranker({ points, weight, said, mean, deviation }) {
  return { name: "rerank", label: "Reranking", how: `${plain(weight)} × (${said.toPrecision(3)} − ${mean.toPrecision(3)}) / ${deviation.toPrecision(3)}, by the reranker`, points };
}

/** @param {Exact} exact @returns {ScorePart} */
function ofExactWords({ points, parts }) {
  const how = parts.map(({ text, as_typed, passages }) => `“${text}”${as_typed ? "" : " in other case"}, in ${passages} passage${passages === 1 ? "" : "s"}`);
  return { name: "exact", label: "Exact words", how: `${how.join("; ")}: before all others`, points };
}

/** A weight, as short as it can be told. @param {number} weight */
function plain(weight) {
  return String(Number(weight.toPrecision(3)));
}

// The parts as bars

/** A table of the parts. @param {ScorePart[]} parts @param {number} score */
function scoreTable(parts, score) {
  const { low, high } = extent(parts);
  const scale = (/** @type {number} */ points) => (100 * (points - low)) / (high - low || 1);
  return element(
    "table",
    { class: "why-parts" },
    element("caption", { class: "unseen" }, "What the score is made of"),
    element("thead", { class: "unseen" }, element("tr", {}, ["Part", "Share", "Points"].map((head) => element("th", { scope: "col" }, head)))),
    element("tbody", {}, rows(parts, 0, scale, 0)),
    element("tfoot", {}, row({ name: "sum", label: "Score", how: "", points: score }, 0, scale, 0)),
  );
}

/** @param {ScorePart[]} parts @param {number} depth @param {(points: number) => number} scale @param {number} from @returns {HTMLElement[]} */
function rows(parts, depth, scale, from) {
  const made = [];
  for (const part of parts) {
    made.push(row(part, depth, scale, from), ...rows(part.parts ?? [], depth + 1, scale, from));
    from += part.points;
  }
  return made;
}

/** @param {ScorePart} part @param {number} depth @param {(points: number) => number} scale @param {number} from */
function row({ name, label, how, points }, depth, scale, from) {
  const [start, end] = [scale(Math.min(from, from + points)), scale(Math.max(from, from + points))];
  const bar = element("span", { class: "why-bar", "data-part": name });
  bar.style.insetInlineStart = `${start}%`;
  bar.style.width = `${end - start}%`;
  return element(
    "tr",
    { "data-depth": depth, "data-part": name },
    element("th", { scope: "row" }, element("span", { class: "why-label" }, label), how && [" ", element("span", { class: "why-how" }, how)]),
    element("td", { class: "why-track", "aria-hidden": "true" }, bar),
    element("td", { class: "why-points", "data-points": points, title: String(points) }, shown(points)),
  );
}

/** From where to where the bars reach: zero is always among it. @param {ScorePart[]} parts */
function extent(parts) {
  let [at, low, high] = [0, 0, 0];
  for (const { points } of parts) {
    at += points;
    low = Math.min(low, at);
    high = Math.max(high, at);
  }
  return { low, high };
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}

/** A number with three digits, and a minus sign as in print. @param {number} value */
function shown(value) {
  return value.toFixed(3).replace("-", "−");
}
