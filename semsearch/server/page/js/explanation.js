/**
 * An explanation of a score: its parts as bars, each beginning where the one before it ends, and what each pair of words
 * adds to the cosine, as a table whose cells are the warmer the more. Numbers are rounded so that what is shown adds up.
 */

import { element } from "./dom.js";

/** @import { Mode } from "./passages.js" */

// What /v1/explain answers; semsearch/results/explanation.py says what each number is
/** @typedef {{word: string, count: number, beside: number, score: number}} Term */
/** @typedef {{of: string, cosine: number, weight: number}} Cosine */
/** @typedef {{dense: number, lexical: number, best: number, near: number}} Weights */
/** @typedef {{points: number, weight: number, said: number, mean: number, deviation: number}} Rerank */
/** @typedef {{points: number, parts: {text: string, as_typed: boolean, passages: number}[]}} Exact */
/** @typedef {{probability: number, cosine: number | null, trust: number | null, words: number | null, share: number, unknown: number, whole: boolean}} Relevance */
/** @typedef {{question: string[], sentence: string[], shares: number[][], unknown: string[]}} Pairs */
/**
 * @typedef {object} Explanation
 * @property {Mode} mode
 * @property {number} score
 * @property {Record<string, number>} points
 * @property {Weights} weights
 * @property {Term[]} terms
 * @property {Cosine[]} cosines
 * @property {Pairs | null} pairs
 * @property {string[]} unknown
 * @property {Rerank} [rerank]
 * @property {{words: {word: string, match: string, share: number}[]}} [quote]
 * @property {Exact} [exact]
 * @property {Relevance | null} [relevance]
 */

/** The elements that show an explanation. @param {Explanation} explanation */
export function explained(explanation) {
  const { pairs, score } = explanation;
  const hasPairs = pairs !== null && pairs.question.length > 0 && pairs.sentence.length > 0;
  return [
    element("h3", { class: "panel-heading" }, "Why it matched"),
    scoreTable(scoreParts(explanation), score),
    notes(explanation),
    hasPairs ? [element("h3", { class: "panel-heading why-second" }, "Word pairs of the query and the best sentence"), heatMap(pairs)] : null,
  ];
}

/** @param {Explanation} explanation */
function notes(explanation) {
  const absent = absentWords(explanation);
  const unknown = explanation.unknown;
  const aligned = (explanation.quote?.words ?? []).filter(({ share }) => share >= 0.005);
  const lines = [
    explanation.relevance ? likelihood(explanation.relevance) : "",
    aligned.length ? `Quoted for: ${aligned.map(({ word, match }) => (word === match ? word : `${word} → ${match}`)).join(", ")}` : "",
    absent.length ? `Not in the passage: ${absent.join(", ")}` : "",
    unknown.length ? `Out of vocabulary: ${unknown.join(", ")}` : "",
  ].filter(Boolean);
  return lines.map((line) => element("p", { class: "why-note small soft", dir: "auto" }, line));
}

/** How likely the passage answers, and from what that follows. @param {Relevance} relevance */
function likelihood({ probability, cosine, trust, words, share, unknown, whole }) {
  const parts = [
    cosine === null ? "" : `cosine ${cosine.toFixed(3)} × ${(trust ?? 0).toFixed(2)}`,
    words === null ? "" : `words ${words.toFixed(2)}`,
    `${Math.round(100 * share)}% of the best score`,
    unknown ? `${Math.round(100 * unknown)}% of the words unknown` : "",
    whole ? "all words" : "",
  ];
  return `${Math.round(100 * probability)}% likely to answer: ${parts.filter(Boolean).join(", ")}`;
}

// The parts of a score, in words: a tree whose numbers add up at each level

/**
 * A part of a score. `points` is exact, `units` what is shown of it; `how` says what it is made of.
 * @typedef {object} ScorePart
 * @property {string} name of its class: words, meaning, near, rerank, exact
 * @property {string} label
 * @property {string} how
 * @property {number} points
 * @property {number} units
 * @property {ScorePart[]} parts
 */
/** @typedef {Omit<ScorePart, "units" | "parts"> & {parts?: Unrounded[]}} Unrounded */

/** The parts of the score that an explanation explains. @param {Explanation} explanation @returns {ScorePart[]} */
function scoreParts(explanation) {
  const { points, weights, terms, cosines, rerank, exact } = explanation;
  const parts = Object.entries(points).map(([stage, given]) => {
    if (stage === "lexical") return ofWords(given, weights, terms, explanation.mode);
    if (stage === "dense") return ofMeaning(given, weights.dense, cosines);
    if (stage === "rerank" && rerank) return ofReranker(rerank);
    if (stage === "exact" && exact) return ofExactWords(exact);
    const [label, how] = STAGES[stage] ?? [stage, ""];
    return { name: stage === "feedback" ? "near" : "support", label, how, points: given };
  });
  return rounded(parts, inUnits(explanation.score));
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

/** @param {Unrounded[]} parts @param {number} sum in units @returns {ScorePart[]} */
function rounded(parts, sum) {
  const units = apportioned(parts.map(({ points }) => points), sum);
  return parts.map((part, at) => ({ ...part, units: units[at], parts: rounded(part.parts ?? [], units[at]) }));
}

/** @param {number} points @param {Weights} weights @param {Term[]} terms @param {Mode} mode @returns {Unrounded} */
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
  const near = beside ? `${times(beside)} in the passages beside it` : "";
  return [here, near].filter(Boolean).join(", ");
}

/** @param {number} count */
function times(count) {
  return count === 1 ? "once" : count === 2 ? "twice" : `${count} times`;
}

/** @type {Record<string, string>} */
const COMPARED = { topics: "Topics", passage: "The passage", sentence: "Its best sentence", title: "The document's title" };

/** @param {number} points @param {number} weight @param {Cosine[]} cosines @returns {Unrounded} */
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

/** @param {Rerank} rerank @returns {Unrounded} */
function ofReranker({ points, weight, said, mean, deviation }) {
  return { name: "rerank", label: "Reranking", how: `${plain(weight)} × (${said.toPrecision(3)} − ${mean.toPrecision(3)}) / ${deviation.toPrecision(3)}, by the reranker`, points };
}

/** @param {Exact} exact @returns {Unrounded} */
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
    element("tfoot", {}, row({ name: "sum", label: "Score", how: "", points: score, units: inUnits(score), parts: [] }, 0, scale, 0)),
  );
}

/** @param {ScorePart[]} parts @param {number} depth @param {(points: number) => number} scale @param {number} from @returns {HTMLElement[]} */
function rows(parts, depth, scale, from) {
  const made = [];
  for (const part of parts) {
    made.push(row(part, depth, scale, from), ...rows(part.parts, depth + 1, scale, from));
    from += part.points;
  }
  return made;
}

/** @param {ScorePart} part @param {number} depth @param {(points: number) => number} scale @param {number} from */
function row({ name, label, how, points, units }, depth, scale, from) {
  const [start, end] = [scale(Math.min(from, from + points)), scale(Math.max(from, from + points))];
  const bar = element("span", { class: "why-bar", "data-part": name });
  bar.style.insetInlineStart = `${start}%`;
  bar.style.width = `${end - start}%`;
  return element(
    "tr",
    { "data-depth": depth, "data-part": name },
    element("th", { scope: "row" }, element("span", { class: "why-label" }, label), how && [" ", element("span", { class: "why-how" }, how)]),
    element("td", { class: "why-track", "aria-hidden": "true" }, bar),
    element("td", { class: "why-points", "data-points": points, title: String(points) }, shown(units)),
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

// Which words met which

const STEPS = /** @type {Record<string, [number, number]>} */ ({ ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] });

/** @param {Pairs} pairs */
function heatMap({ question, sentence, shares }) {
  const cosine = sum(shares.flat());
  const most = Math.max(...shares.flat().map(Math.abs)) || 1;
  const units = roundedTable(shares, inUnits(cosine));
  const told = element("p", { class: "why-told small", "aria-hidden": "true" });
  const table = element(
    "table",
    { class: "heat", role: "grid", "aria-label": "What each pair of words adds: words of the question down, of the sentence across" },
    element("thead", {}, element("tr", {}, element("td", {}), sentence.map(columnHead), element("th", { scope: "col", class: "heat-sum" }, element("span", {}, "all")))),
    element("tbody", {}, question.map((word, row) => heatRow(word, row))),
    element("tfoot", {}, element("tr", {}, element("th", { scope: "row", class: "heat-sum" }, "all"), sentence.map((_, column) => sumCell(sum(units.map((each) => each[column])), sum(shares.map((each) => each[column])))), sumCell(inUnits(cosine), cosine))),
  );
  table.addEventListener("keydown", (event) => moved(table, event));
  table.addEventListener("focusin", (event) => tell(event.target));
  table.addEventListener("mouseover", (event) => tell(event.target));
  rest();
  return element("div", { class: "why-map" }, element("div", { class: "heat-scroll" }, table), told, legend(most));

  /** @param {string} word @param {number} row */
  function heatRow(word, row) {
    const cells = sentence.map((other, column) => heatCell(word, other, row, column));
    return element("tr", {}, element("th", { scope: "row", dir: "auto" }, word), cells, sumCell(sum(units[row]), sum(shares[row])));
  }

  /** @param {string} word @param {string} other @param {number} row @param {number} column */
  function heatCell(word, other, row, column) {
    const share = shares[row][column];
    const cell = element(
      "td",
      { class: share < 0 ? "heat-cell against" : "heat-cell", tabindex: row || column ? "-1" : "0", "data-share": share, "data-words": `${word} × ${other}` },
      element("span", { class: "unseen" }, shown(units[row][column])),
    );
    cell.style.setProperty("--share", String(Math.abs(share) / most));
    return cell;
  }

  /** @param {EventTarget | null} target */
  function tell(target) {
    const cell = target instanceof Element ? target.closest(".heat-cell") : null;
    if (cell) told.textContent = `${cell.getAttribute("data-words")}: ${cell.textContent}`;
    else rest();
  }

  function rest() {
    told.textContent = `Sum of all pairs: ${shown(inUnits(cosine))}, the cosine of question and sentence`;
  }
}

/** @param {string} word */
function columnHead(word) {
  return element("th", { scope: "col", dir: "auto" }, element("span", {}, word));
}

/** @param {number} units @param {number} exact */
function sumCell(units, exact) {
  return element("td", { class: "heat-sum", "data-sum": exact, title: String(exact) }, shown(units));
}

/** The shares in units, so that all of them add up to the cosine that is shown. @param {number[][]} shares @param {number} cosine */
function roundedTable(shares, cosine) {
  const width = shares[0]?.length ?? 0;
  const flat = apportioned(shares.flat(), cosine);
  return shares.map((_, row) => flat.slice(row * width, (row + 1) * width));
}

/** @param {number} most */
function legend(most) {
  const scale = element("span", { class: "heat-scale", "aria-hidden": "true" });
  return element("p", { class: "heat-legend small soft" }, "against ", `−${most.toFixed(3)} `, scale, ` ${most.toFixed(3)}`, " for");
}

/** @param {HTMLTableElement} table @param {KeyboardEvent} event */
function moved(table, event) {
  const step = STEPS[event.key];
  const cell = event.target instanceof Element ? event.target.closest(".heat-cell") : null;
  if (!step || !cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const rows = [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll(".heat-cell")]);
  const row = rows.findIndex((cells) => cells.includes(cell));
  const next = rows[row + step[0]]?.[rows[row].indexOf(cell) + step[1]];
  event.preventDefault();
  event.stopPropagation(); // the arrows also go through the passages
  if (!(next instanceof HTMLElement)) return;
  cell.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}

// Numbers rounded so that what is shown adds up

const DIGITS = 3;
const UNIT = 10 ** DIGITS;

/**
 * Parts rounded to the digits that are shown, in units of the last one, so that they add up to the rounded sum: of what
 * is missing, each unit goes to the part that is furthest below its exact value. Each is less than one unit off.
 * @param {number[]} parts @param {number} sum in units
 */
export function apportioned(parts, sum) {
  const exact = parts.map((part) => part * UNIT);
  const given = exact.map(Math.floor);
  const missing = sum - given.reduce((total, each) => total + each, 0);
  const order = exact.map((_, at) => at).sort((one, other) => exact[other] - given[other] - (exact[one] - given[one]) || one - other);
  const step = Math.sign(missing);
  if (step < 0) order.reverse();
  for (let turn = 0; turn < Math.abs(missing) && order.length; turn++) given[order[turn % order.length]] += step;
  return given;
}

/** A number in units of the last digit that is shown. @param {number} value */
export function inUnits(value) {
  return Math.round(Number(value.toFixed(DIGITS)) * UNIT);
}

/** Units as a number with its digits: a minus sign as in print. @param {number} units */
function shown(units) {
  return (units / UNIT).toFixed(DIGITS).replace("-", "−");
}
