// @ts-check
/** The indexes of the server, asked for once, and which of them a question is for. */

import { get } from "../api.js";

/** @typedef {import("./empty.js").IndexEntry} IndexEntry */
/** @typedef {import("./state.js").SearchState} SearchState */

/** The indexes of the server. @param {AbortSignal} signal @returns {Promise<IndexEntry[]>} */
export async function servedIndexes(signal) {
  return (await get("/v1/indexes", {}, { signal })).indexes;
}

export class ServedIndexes {
  /** @type {Promise<IndexEntry[]> | null} */
  #listing = null;
  /** @type {IndexEntry[] | null} those that are known by now */
  #known = null;

  /** @param {AbortSignal} signal */
  constructor(signal) {
    this.signal = signal;
  }

  /** All of them. */
  async all() {
    this.#listing ??= servedIndexes(this.signal);
    try {
      return (this.#known = await this.#listing);
    } catch (problem) {
      this.#listing = null;
      throw problem;
    }
  }

  /** The names of those to ask: if the address says which, without a look at what there is. @param {SearchState} state */
  async asked({ indexes }) {
    if (indexes.length && !this.#known) return indexes;
    return askedOf(await this.all(), indexes);
  }

  /** Those to ask, as far as they are known. @param {SearchState} state */
  entries({ indexes }) {
    const asked = askedOf(this.known, indexes);
    return this.known.filter(({ name }) => asked.includes(name));
  }

  get known() {
    return this.#known ?? [];
  }
}

/** Those that are chosen, or else all that have documents. @param {IndexEntry[]} served @param {string[]} chosen */
function askedOf(served, chosen) {
  const known = chosen.filter((name) => served.some((index) => index.name === name));
  return known.length ? known : served.filter(({ documents }) => documents > 0).map(({ name }) => name);
}

/** Names of indexes as a request has them. @param {string[]} asked */
export function asParameter(asked) {
  return asked.length === 1 ? asked[0] : asked.length ? asked : null;
}
