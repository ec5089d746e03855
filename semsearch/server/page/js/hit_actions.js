/** What can be done with a hit: say why it matched, find similar passages, copy it as a citation. */

import { isAborted, post } from "./api.js";
import { element, fill } from "./dom.js";
import { beginningOf, indexOf, locationOf, nameOf, oneLine, shortPath, sourceAddress, titleOf, trailOf } from "./passages.js";
import { copyButton, problemNotice } from "./widgets.js";

/** @import { Hit, HitContext } from "./passages.js" */

/**
 * An action with a hit. `show` fills a panel below the passage, which the button opens and closes, and may return a
 * function that is called when it closes; `run`, instead, does something at once.
 * @typedef {object} HitAction
 * @property {string} name of its class
 * @property {string} label
 * @property {string} says what its key does, for the list of keys
 * @property {string} key a letter that does it for the hit that has the focus
 * @property {(hit: Hit, context: HitContext) => boolean} [fits] whether it is offered; by default always
 * @property {(hit: Hit, context: HitContext) => void} [run]
 * @property {(panel: HTMLElement, hit: Hit, context: HitContext) => void | (() => void)} [show]
 */

// Why it matched

/** @type {HitAction} */
const why = { name: "why", label: "Why", key: "w", says: "show why it matched", fits: (hit) => Boolean(hit.origin), show: showWhy };

/** @param {HTMLElement} panel @param {Hit} hit @param {HitContext} context */
function showWhy(panel, hit, context) {
  const ending = new AbortController();
  void loadWhy(panel, hit, context, ending.signal);
  return () => ending.abort();
}

/** @param {HTMLElement} panel @param {Hit} hit @param {HitContext} context @param {AbortSignal} signal */
async function loadWhy(panel, hit, context, signal) {
  try {
    const asked = post("/v1/explain", { index: indexOf(hit, context), hit, query: context.query }, { signal });
    const [explanation, { explained }] = await Promise.all([asked, import("./explanation.js")]);
    if (!signal.aborted) fill(panel, explained(explanation));
  } catch (problem) {
    if (!isAborted(problem)) fill(panel, problemNotice(problem));
  }
}

// Similar passages

const FEW = 5;
const LONGEST = 300; // characters of a sentence

/** @type {HitAction} */
const similar = { name: "similar", label: "Similar", key: "s", says: "find similar passages", show: showSimilar };

/** @param {HTMLElement} panel @param {Hit} hit @param {HitContext} context */
function showSimilar(panel, hit, context) {
  const ending = new AbortController();
  fill(panel, element("p", { class: "soft small" }, "Searching for similar passages …"));
  void loadSimilar(panel, hit, context, ending.signal);
  return () => ending.abort();
}

/** @param {HTMLElement} panel @param {Hit} hit @param {HitContext} context @param {AbortSignal} signal */
async function loadSimilar(panel, hit, context, signal) {
  try {
    const { hits, index } = await post("/v1/similar", { hit, index: hit.index ?? context.index, k: FEW }, { signal });
    const known = { ...context, index: index ?? "" };
    if (hits.length) fill(panel, similarHits(hits, known));
    else fill(panel, element("p", { class: "soft small" }, "There are no similar passages."));
  } catch (problem) {
    if (!isAborted(problem)) fill(panel, problemNotice(problem));
  }
}

/** @param {Hit[]} hits @param {HitContext} context */
function similarHits(hits, context) {
  const heading = element("h3", { class: "panel-heading" }, "Similar passages");
  return [heading, element("ol", { class: "similar-hits" }, hits.map((hit) => similarHit(hit, context)))];
}

/** @param {Hit} hit @param {HitContext} context */
function similarHit(hit, context) {
  return element(
    "li",
    {},
    element("a", { href: sourceAddress(hit, context), dir: "auto" }, titleOf(hit)),
    trailOf(hit) ? element("p", { class: "small soft", dir: "auto" }, trailOf(hit)) : null,
    element("p", { dir: "auto" }, beginningOf(oneLine(hit.sentence), LONGEST)),
    element("p", { class: "small soft", title: hit.path }, locationOf(hit, shortPath(hit))),
  );
}

// Citations

/** @type {HitAction} */
const cite = { name: "cite", label: "Cite", key: "c", says: "copy as a citation", show: showCitations };

/** @param {HTMLElement} panel @param {Hit} hit @param {HitContext} context */
function showCitations(panel, hit, context) {
  const forms = citationsOf(hit, linkTo(hit, context));
  fill(panel, element("h3", { class: "panel-heading" }, "Copy as"), element("ul", { class: "citations" }, forms.map(form)));
  panel.querySelector("button")?.focus();
}

/** The address of this page with the hit chosen. @param {Hit} hit @param {HitContext} context */
function linkTo(hit, context) {
  const [view, query = ""] = location.hash.split("?");
  const params = new URLSearchParams(query);
  params.set("hit", nameOf(hit, context));
  return `${location.origin}${location.pathname}${view}?${params}`;
}

/** @param {Citation} citation */
function form({ name, label, text }) {
  const button = copyButton(label, text, "Select the text to copy it", { "data-form": name });
  return element("li", {}, button, element("pre", { class: "citation", dir: "auto", tabindex: "0" }, text));
}

/** @typedef {{name: string, label: string, text: string}} Citation */

/** The forms in which a hit can be cited. `link` leads to it on this page. @param {Hit} hit @param {string} link @returns {Citation[]} */
function citationsOf(hit, link) {
  return [
    { name: "text", label: "Plain text", text: plain(hit) },
    { name: "markdown", label: "Markdown", text: markdown(hit) },
    { name: "link", label: "Link", text: link },
  ];
}

/** @param {Hit} hit */
function plain(hit) {
  return `“${oneLine(hit.sentence)}”\n${[...named(hit), locationOf(hit)].join(", ")}`;
}

/** @param {Hit} hit */
function markdown(hit) {
  const names = named(hit).map(escaped);
  return `> ${escaped(oneLine(hit.sentence))}\n>\n> — ${[...names, code(locationOf(hit))].join(", ")}`;
}

/** Title and headings, each once. @param {Hit} hit @returns {string[]} */
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

/** The actions, in the order of their buttons below a passage. @type {HitAction[]} */
export const HIT_ACTIONS = [why, similar, cite];
