/** What the view of a document asks for: the address it is given, the document and its parts, the sentences that answer. */

import { get, post, withId } from "./api.js";

/** @import { Hit } from "./passages.js" */

/**
 * What the address of a document asks for: which document, where in it, and the question that led there.
 * @typedef {object} Asked
 * @property {string | null} index
 * @property {string} id path or id of the document
 * @property {number | null} sentence its id; passage, line and page say where it was, should it have gone
 * @property {number | null} passage
 * @property {number | null} line
 * @property {number | null} page
 * @property {string} query
 * @property {string} mode
 * @property {string[]} filters
 * @property {"pages" | "text" | null} show null: what suits the document
 */

/** @param {URLSearchParams} params @returns {Asked} */
export function askedBy(params) {
  const show = params.get("show");
  return {
    index: params.get("index"),
    id: params.get("id") ?? "",
    sentence: number(params, "sentence"),
    passage: number(params, "passage"),
    line: number(params, "line"),
    page: number(params, "page"),
    query: params.get("q") ?? "",
    mode: params.get("mode") ?? "hybrid",
    filters: params.getAll("filter"),
    show: show === "pages" || show === "text" ? show : null,
  };
}

/** The parameters of the search that led there; null if none did. @param {Asked} asked */
export function searchOf({ query, index, mode, filters }) {
  if (!query) return null;
  const params = new URLSearchParams({ q: query });
  if (index) params.set("index", index);
  for (const filter of filters) params.append("filter", filter);
  if (mode !== "hybrid") params.set("mode", mode);
  return params;
}

/** @param {URLSearchParams} params @param {string} name */
function number(params, name) {
  const value = Number(params.get(name) ?? NaN);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}

// The document and its parts, each with the passage before it, which tells what is new in it

export const SIZE = 16; // passages of a part

/** @typedef {{sentence_id: number, start: number, end: number, line: number, place: string | null}} PlacedSentence */
/** @typedef {{passage_id: number, headings: string[], page: number | null, text: string, sentences: PlacedSentence[]}} PlacedPassage */
/** @typedef {{before: PlacedPassage | null, passages: PlacedPassage[]}} Part */
/**
 * What is known of a document before its text: `found` is the number of the passage that was asked for.
 * @typedef {{path: string, root: string, document: string, title: string, format: string, stale: boolean, deleted?: boolean, count: number, found: number | null, first: number, target: PlacedPassage | null}} Found
 */

/** Find a document and a place in it. @param {Asked} asked @param {AbortSignal} signal @returns {Promise<Found>} */
export async function findDocument(asked, signal) {
  const { index, id, sentence, passage, line, page } = asked;
  const sought = { index, sentence, passage, line: line || null, page: page || null, limit: 1 };
  const { passages, offset, ...rest } = await get(withId("/v1/passages", id), sought, { signal });
  const [one] = passages;
  return { ...rest, first: one ? one.passage_id - offset : 0, target: rest.found === null ? null : one };
}

/** A part of a document, by its number. @param {Asked} asked @param {number} number @param {AbortSignal} signal @returns {Promise<Part & {first: number}>} */
export async function loadPart({ index, id }, number, signal) {
  const start = number * SIZE;
  const before = Math.min(start, 1);
  const asking = { index, offset: start - before, limit: SIZE + before };
  const { passages } = await get(withId("/v1/passages", id), asking, { signal });
  return {
    before: before ? passages[0] : null,
    passages: passages.slice(before),
    first: passages.length ? passages[0].passage_id - start + before : -1,
  };
}

// The sentences that answer the question that led there

const LOOKED_AT = 30; // of the question's hits

/** @typedef {{sentence: number, passage: number, page: number | null, rank: number | null, score: number | null, text: string}} Answer `sentence` is its first; `text` all that answers, "" if not known */

/**
 * Find them among the question's first hits; the sentence that was asked for is always one.
 * @param {Asked} asked @param {string} path @param {Answer | null} target @param {AbortSignal} signal
 * @returns {Promise<Answer[]>}
 */
export async function answersIn(asked, path, target, signal) {
  const found = asked.query.trim() ? await hitsIn(asked, path, signal) : [];
  if (target && !found.some(({ sentence }) => sentence === target.sentence)) found.push(target);
  return found.sort((one, other) => one.sentence - other.sentence);
}

/** @param {Asked} asked @param {string} path @param {AbortSignal} signal @returns {Promise<Answer[]>} */
async function hitsIn({ query, index, mode, filters }, path, signal) {
  const asking = { query, index, mode, filters, k: LOOKED_AT, duplicates: true };
  const { hits } = await post("/v1/search", asking, { signal });
  return hits.filter((/** @type {Hit} */ hit) => hit.path === path).map(answer);
}

/** @param {Hit} hit @returns {Answer} */
function answer({ sentence_id, passage_id, page, rank, score, sentence }) {
  return { sentence: sentence_id, passage: passage_id, page, rank, score, text: sentence };
}
