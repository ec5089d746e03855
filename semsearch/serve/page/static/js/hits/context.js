// @ts-check
/** What a hit's card and its actions know besides the hit. */

import { addressOf } from "../router.js";
import { hasView } from "../routes.js";
import { beginningOf } from "./excerpt.js";
import { shortPath } from "./place.js";

const LONGEST = 160; // characters of a title

/**
 * What was asked, and of which indexes. `open`, if it is given, opens a hit's source beside the hits.
 * @typedef {object} HitContext
 * @property {string} query
 * @property {import("../search/state.js").Mode} mode
 * @property {string[]} filters
 * @property {string} index that answered; "" where several did: a hit then names its own
 * @property {(hit: any) => boolean} [open] whether it did
 */

/** The name of a hit's index. @param {any} hit @param {HitContext} context @returns {string} */
export function indexOf(hit, { index }) {
  return hit.index ?? index;
}

/**
 * What a hit's document is called: by its title, or if that is only the name of its file, by its first heading.
 * @param {any} hit
 */
export function titleOf(hit) {
  return beginningOf(isNamedByFile(hit) ? hit.headings[0] : hit.title, LONGEST) || shortPath(hit);
}

/** The headings that lead to a hit, without what `titleOf` says. @param {any} hit */
export function trailOf(hit) {
  const inner = hit.headings[0] === hit.title || isNamedByFile(hit) ? hit.headings.slice(1) : hit.headings;
  return inner.map((/** @type {string} */ heading) => beginningOf(heading, LONGEST)).join(" › ");
}

/** @param {any} hit */
function isNamedByFile({ title, document, headings }) {
  const name = document.split("/").at(-1);
  return headings.length > 0 && (title === name || name.startsWith(`${title}.`));
}

/** What tells a hit from all others: its index and its passage. @param {any} hit @param {HitContext} context */
export function nameOf(hit, context) {
  return `${indexOf(hit, context)}/${hit.passage_id}`;
}

/** What the view of a source is told: the document, and the sentence to show in it. @param {any} hit @param {HitContext} context */
export function sourceParams(hit, context) {
  const { path, sentence_id, passage_id, line, page } = hit;
  const placed = { index: indexOf(hit, context), id: path, sentence: sentence_id, passage: passage_id, line };
  const params = new URLSearchParams({ ...placed, ...(page === null ? {} : { page }), q: context.query });
  for (const filter of context.filters) params.append("filter", filter);
  if (context.mode !== "hybrid") params.set("mode", context.mode);
  return params;
}

/** The address of a hit's source; null while there is no view of sources. @param {any} hit @param {HitContext} context */
export function sourceAddress(hit, context) {
  return hasView("document") ? addressOf("document", sourceParams(hit, context)) : null;
}
