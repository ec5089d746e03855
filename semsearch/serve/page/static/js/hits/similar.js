// @ts-check
/** Passages like a hit's. */

import { isAborted, post } from "../api.js";
import { element, fill } from "../dom.js";
import { problemNotice } from "../notices.js";
import { sourceAddress, titleOf, trailOf } from "./context.js";
import { beginningOf } from "./excerpt.js";
import { oneLine } from "./marking.js";
import { locationOf, shortPath } from "./place.js";

const FEW = 5;
const LONGEST = 300; // characters of a sentence

/** @type {import("./hit_actions.js").HitAction} */
export const similar = { name: "similar", label: "Similar", key: "s", says: "passages like this one", show };

/** @param {HTMLElement} panel @param {any} hit @param {import("./context.js").HitContext} context */
function show(panel, hit, context) {
  const ending = new AbortController();
  fill(panel, element("p", { class: "soft small" }, "Looking for passages like this one…"));
  void load(panel, hit, context, ending.signal);
  return () => ending.abort();
}

/** @param {HTMLElement} panel @param {any} hit @param {import("./context.js").HitContext} context @param {AbortSignal} signal */
async function load(panel, hit, context, signal) {
  try {
    const { hits, index } = await post("/v1/similar", { hit, index: hit.index ?? context.index, k: FEW }, { signal });
    const known = { ...context, index: index ?? "" };
    if (hits.length) fill(panel, heading(), list(hits, known));
    else fill(panel, element("p", { class: "soft small" }, "No passage is like this one."));
  } catch (problem) {
    if (!isAborted(problem)) fill(panel, problemNotice(problem));
  }
}

function heading() {
  return element("h3", { class: "panel-heading" }, "Similar passages");
}

/** @param {any[]} hits @param {import("./context.js").HitContext} context */
function list(hits, context) {
  return element("ol", { class: "similar-hits" }, hits.map((hit) => entry(hit, context)));
}

/** @param {any} hit @param {import("./context.js").HitContext} context */
function entry(hit, context) {
  const address = sourceAddress(hit, context);
  const title = titleOf(hit);
  return element(
    "li",
    {},
    address ? element("a", { href: address, dir: "auto" }, title) : element("strong", { dir: "auto" }, title),
    trailOf(hit) ? element("p", { class: "small soft", dir: "auto" }, trailOf(hit)) : null,
    element("p", { dir: "auto" }, beginningOf(oneLine(hit.sentence), LONGEST)),
    element("p", { class: "small soft", title: hit.path }, locationOf(hit, shortPath(hit))),
  );
}
