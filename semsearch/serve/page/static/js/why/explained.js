// @ts-check
/** An explanation of a score in words, numbers and colours. */

import { element } from "../dom.js";
import { scoreTable } from "./bars.js";
import { heatMap } from "./heat_map.js";
import { absentWords, scoreParts } from "./parts.js";

/** An explanation in words, numbers and colours. @param {any} explanation */
export function explained(explanation) {
  const { pairs, score } = explanation;
  const hasPairs = pairs?.question.length && pairs.sentence.length;
  return [
    element("h3", { class: "panel-heading" }, "Why it matched"),
    scoreTable(scoreParts(explanation), score),
    notes(explanation),
    hasPairs ? [element("h3", { class: "panel-heading why-second" }, "Which words met which, in the best sentence"), heatMap(pairs)] : null,
  ];
}

/** @param {any} explanation */
function notes(explanation) {
  const absent = absentWords(explanation);
  const unknown = explanation.unknown;
  const lines = [
    absent.length ? `Not in the passage: ${absent.join(", ")}` : "",
    unknown.length ? `Without a known meaning: ${unknown.join(", ")}` : "",
  ].filter(Boolean);
  return lines.map((line) => element("p", { class: "why-note small soft", dir: "auto" }, line));
}
