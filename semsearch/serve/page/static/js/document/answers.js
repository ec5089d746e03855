// @ts-check
/** The sentences of a document that answer the question that led there, in the document's order. */

import { post } from "../api.js";

const LOOKED_AT = 30; // of the question's hits

/** @typedef {{sentence: number, passage: number, page: number | null, rank: number | null, score: number | null}} Answer */

/**
 * Find them among the question's first hits; the sentence that was asked for is always one.
 * @param {import("./asked.js").Asked} asked @param {string} path @param {Answer | null} target @param {AbortSignal} signal
 * @returns {Promise<Answer[]>}
 */
export async function answersIn(asked, path, target, signal) {
  const found = asked.query.trim() ? await hitsIn(asked, path, signal) : [];
  if (target && !found.some(({ sentence }) => sentence === target.sentence)) found.push(target);
  return found.sort((one, other) => one.sentence - other.sentence);
}

/** @param {import("./asked.js").Asked} asked @param {string} path @param {AbortSignal} signal @returns {Promise<Answer[]>} */
async function hitsIn({ query, index, mode, filters }, path, signal) {
  const asking = { query, index, mode, filters, k: LOOKED_AT, duplicates: true };
  const { hits } = await post("/v1/search", asking, { signal });
  return hits.filter((/** @type {any} */ hit) => hit.path === path).map(answer);
}

/** @param {any} hit @returns {Answer} */
function answer({ sentence_id, passage_id, page, rank, score }) {
  return { sentence: sentence_id, passage: passage_id, page, rank, score };
}
