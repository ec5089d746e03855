// @ts-check
/** The parts of a score as bars, each beginning where the one before it ends, and the score as their sum. */

import { element } from "../dom.js";
import { inUnits, shown } from "./rounding.js";

/** @typedef {import("./parts.js").ScorePart} ScorePart */

/** A table of the parts. @param {ScorePart[]} parts @param {number} score */
export function scoreTable(parts, score) {
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
