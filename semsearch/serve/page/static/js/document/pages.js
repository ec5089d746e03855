// @ts-check
/** The pages of a PDF, asked for once each: what stands on them, and their pictures, of which the last few are kept. */

import { get, getBlob, withId } from "../api.js";

const KEPT = 8; // pictures
const STEP = 200; // pixels: pictures are asked for in so many widths only
const WIDEST = 4000;

/** @typedef {{left: number, top: number, width: number, height: number}} TextBox */
/** @typedef {{sentence_id: number, passage_id: number, text: string, boxes: TextBox[]}} PageSentence */
/** @typedef {{path: string, page: number, pages: number, label: string, width: number, height: number, sentences: PageSentence[]}} PdfPage */

export class Pages {
  /** @type {Map<number, Promise<PdfPage>>} */
  #pages = new Map();
  /** @type {Map<string, Promise<string>>} */
  #pictures = new Map();

  /** @param {import("./asked.js").Asked} asked @param {AbortSignal} signal */
  constructor(asked, signal) {
    this.asked = asked;
    this.signal = signal;
  }

  /** A page, counted from 1. @param {number} page @returns {Promise<PdfPage>} */
  page(page) {
    const { index, id } = this.asked;
    return kept(this.#pages, page, () => get(withId("/v1/pages", id), { index, page }, { signal: this.signal }));
  }

  /** The address of its picture, at least so many pixels wide if it may be. @param {number} page @param {number} wanted @returns {Promise<string>} */
  picture(page, wanted) {
    const width = Math.min(Math.ceil(Math.max(wanted, 1) / STEP) * STEP, WIDEST);
    const found = kept(this.#pictures, `${page} ${width}`, () => this.#draw(page, width));
    while (this.#pictures.size > KEPT) this.#forget(/** @type {string} */ (this.#pictures.keys().next().value));
    return found;
  }

  /** Forget the pictures. */
  end() {
    for (const name of [...this.#pictures.keys()]) this.#forget(name);
  }

  /** @param {number} page @param {number} width */
  async #draw(page, width) {
    const { index, id } = this.asked;
    const blob = await getBlob(withId("/v1/pictures", id), { index, page, width }, { signal: this.signal });
    return URL.createObjectURL(blob);
  }

  /** @param {string} name */
  #forget(name) {
    const picture = this.#pictures.get(name);
    this.#pictures.delete(name);
    picture?.then((url) => URL.revokeObjectURL(url), () => {});
  }
}

/**
 * What is in a map, or is made now and put there: last, and not for good if it fails.
 * @template Key, Value
 * @param {Map<Key, Promise<Value>>} map @param {Key} key @param {() => Promise<Value>} make
 */
function kept(map, key, make) {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  value.catch(() => map.get(key) === value && map.delete(key));
  return value;
}
