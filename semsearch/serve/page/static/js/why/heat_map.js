// @ts-check
/** What each pair of words adds to the cosine of question and sentence: a table whose cells are the warmer the more. */

import { element } from "../dom.js";
import { apportioned, inUnits, shown } from "./rounding.js";

/** @typedef {{question: string[], sentence: string[], shares: number[][], unknown: string[]}} Pairs */

const STEPS = /** @type {Record<string, [number, number]>} */ ({ ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] });

/** @param {Pairs} pairs */
export function heatMap({ question, sentence, shares }) {
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
    told.textContent = `All pairs together: ${shown(inUnits(cosine))}, the cosine of question and sentence`;
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
