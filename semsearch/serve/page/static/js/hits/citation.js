// @ts-check
/** A hit as a citation, in several forms. */

import { oneLine } from "./marking.js";
import { hasLines, locationOf } from "./place.js";

/** @typedef {{name: string, label: string, text: string}} Citation */

/** The forms in which a hit can be cited. `link` leads to it on this page. @param {any} hit @param {string} link @returns {Citation[]} */
export function citationsOf(hit, link) {
  return [
    { name: "text", label: "Plain text", text: plain(hit) },
    { name: "markdown", label: "Markdown", text: markdown(hit) },
    { name: "fields", label: "Fields", text: fields(hit) },
    { name: "link", label: "Link", text: link },
  ];
}

/** @param {any} hit */
function plain(hit) {
  return `“${oneLine(hit.sentence)}”\n${[...named(hit), locationOf(hit)].join(", ")}`;
}

/** @param {any} hit */
function markdown(hit) {
  const names = named(hit).map(escaped);
  return `> ${escaped(oneLine(hit.sentence))}\n>\n> — ${[...names, code(locationOf(hit))].join(", ")}`;
}

/** @param {any} hit */
function fields(hit) {
  const { title, headings, path, format, page, place } = hit;
  const line = hasLines(hit) ? hit.line : null;
  const found = { title, headings: headings.join(" › "), path, format, page, place, line, quote: oneLine(hit.sentence) };
  const known = Object.entries(found).filter(([, value]) => value !== null && value !== "");
  return known.map(([name, value]) => `${name}: ${value}`).join("\n");
}

/** Title and headings, each once. @param {any} hit @returns {string[]} */
function named({ title, headings }) {
  const inner = headings[0] === title ? headings.slice(1) : headings;
  return [title, inner.join(" › ")].filter(Boolean);
}

/** Text as Markdown shows it as it is. @param {string} text */
function escaped(text) {
  return text.replace(/[\\`*_[\]<>&#|~]/g, "\\$&");
}

/** @param {string} text */
function code(text) {
  const fence = "`".repeat(1 + Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)));
  return fence.length > 1 ? `${fence} ${text} ${fence}` : `\`${text}\``;
}
