// @ts-check
/** The parts of a document, each asked for once, with the passage before it, which tells what is new in it. */

import { get, withId } from "../api.js";

export const SIZE = 16; // passages of a part

/** @typedef {import("./passage.js").PlacedPassage} PlacedPassage */
/** @typedef {{before: PlacedPassage | null, passages: PlacedPassage[]}} Part */
/**
 * What is known of a document before its text: `found` is the number of the passage that was asked for.
 * @typedef {{path: string, root: string, document: string, title: string, format: string, stale: boolean, count: number, found: number | null, first: number, target: any}} Found
 */

/** Find a document and a place in it. @param {import("./asked.js").Asked} asked @param {AbortSignal} signal @returns {Promise<Found>} */
export async function findDocument(asked, signal) {
  const { index, id, sentence, passage, line, page } = asked;
  const sought = { index, sentence, passage, line: line || null, page: page || null, limit: 1 };
  const { passages, offset, ...rest } = await get(withId("/v1/passages", id), sought, { signal });
  const [one] = passages;
  return { ...rest, first: one ? one.passage_id - offset : 0, target: rest.found === null ? null : one };
}

/** A part of a document, by its number. @param {import("./asked.js").Asked} asked @param {number} number @param {AbortSignal} signal @returns {Promise<Part & {first: number}>} */
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
