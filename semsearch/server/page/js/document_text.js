/**
 * The text of a document. Parts become elements when one comes near them; the others are boxes as high as parts usually
 * are. What is seen stays where it is when a part above it turns out higher or lower.
 */

import { isAborted } from "./api.js";
import { loadPart, SIZE } from "./document_data.js";
import { element, fill } from "./dom.js";
import { isCode, isLineless, isSource, unwrapped } from "./passages.js";
import { problemNotice } from "./widgets.js";

/** @import { Answer, Asked, Found, Part, PlacedPassage } from "./document_data.js" */

const NEAR = "150%"; // of the height: how far from what is seen parts are shown
const SETTLED = 50; // milliseconds that a part is near before it is asked for
const USUAL = 3200; // pixels of a part, until one is known

/** @typedef {{node: HTMLElement, number: number, part: Part | null, ending: AbortController | null, loading: Promise<void> | null}} Slot */

/** The text, which scrolls, in parts. */
export class TextPane {
  /** @type {Slot[]} */
  #slots = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {Set<Slot>} */
  #near = new Set();

  /**
   * @param {Asked} asked @param {Found} found
   * @param {{headingTag: "h2" | "h3", answers: (sentence: number) => Answer | undefined, changed: () => void}} how
   */
  constructor(asked, found, how) {
    this.asked = asked;
    this.found = found;
    this.how = how;
    this.node = element("div", { class: "source-scroll", tabindex: "0", role: "region", "aria-label": "Text of the document" });
    const count = Math.ceil(found.count / SIZE);
    this.#slots = Array.from({ length: count }, (_, number) => ({ node: element("div", { class: "source-part" }), number, part: null, ending: null, loading: null }));
    for (const { node } of this.#slots) node.style.height = `${USUAL}px`;
    const column = element("div", { class: "source-column" }, this.#slots.map(({ node }) => node));
    fill(this.node, found.count ? column : element("p", { class: "soft source-column" }, "This document has no text."));
    this.observer = new IntersectionObserver((entries) => this.#moved(entries), { root: this.node, rootMargin: `${NEAR} 0px` });
  }

  /** Begin to show what is near; to be called once it is in the page. */
  start() {
    for (const { node } of this.#slots) this.observer.observe(node);
  }

  end() {
    this.observer.disconnect();
    clearTimeout(this.#timer);
    for (const { ending } of this.#slots) ending?.abort();
  }

  /** Bring a sentence, or else a passage, to the middle; resolves when it is there. @param {number} passage @param {number | null} sentence @param {{focus?: boolean}} [how] */
  async show(passage, sentence, { focus = false } = {}) {
    const slot = this.#slots[Math.floor((passage - this.found.first) / SIZE)];
    if (!slot) return;
    await this.#load(slot);
    if (!this.node.isConnected) return;
    const marked = sentence === null ? null : slot.node.querySelector(`[data-sentence="${sentence}"]`);
    const shown = marked ?? slot.node.querySelector(`[data-passage="${passage}"]`);
    if (!(shown instanceof HTMLElement)) return;
    this.#current(shown);
    this.#centre(shown);
    if (focus) shown.focus({ preventScroll: true });
  }

  /** Show again which sentences are marked. */
  remark() {
    const current = this.node.querySelector(".current")?.getAttribute("data-sentence");
    this.#keeping(() => {
      for (const slot of this.#slots) if (slot.part) this.#fill(slot);
    });
    if (current) this.node.querySelector(`[data-sentence="${current}"]`)?.classList.add("current");
  }

  /** The passage at the top of what is seen: its element; null while there is none. */
  get topPassage() {
    const { top } = this.node.getBoundingClientRect();
    const shown = this.#slots.find(({ node, part }) => part && node.getBoundingClientRect().bottom > top + 1);
    const passages = shown ? [...shown.node.querySelectorAll(".passage")] : [];
    return passages.find((passage) => passage.getBoundingClientRect().bottom > top + 24) ?? null;
  }

  /** @param {HTMLElement} shown */
  #current(shown) {
    this.node.querySelector(".current")?.classList.remove("current");
    shown.classList.add("current");
  }

  /** @param {HTMLElement} shown */
  #centre(shown) {
    const inner = shown.getBoundingClientRect();
    const outer = this.node.getBoundingClientRect();
    const room = Math.max((outer.height - inner.height) / 2, outer.height / 8);
    this.node.scrollTop += inner.top - outer.top - room;
  }

  /** @param {IntersectionObserverEntry[]} entries */
  #moved(entries) {
    const slots = new Map(this.#slots.map((slot) => [slot.node, slot]));
    for (const { target, isIntersecting } of entries) {
      const slot = slots.get(/** @type {HTMLElement} */ (target));
      if (!slot) continue;
      if (isIntersecting) this.#near.add(slot);
      else if (this.#near.delete(slot)) slot.ending?.abort();
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#near.forEach((slot) => void this.#load(slot)), SETTLED);
  }

  /** Show a part, if it is not. @param {Slot} slot */
  async #load(slot) {
    if (slot.part) return;
    slot.ending ??= new AbortController();
    slot.loading ??= this.#loaded(slot, slot.ending.signal).finally(() => (slot.loading = slot.ending = null));
    await slot.loading;
  }

  /** @param {Slot} slot @param {AbortSignal} signal */
  async #loaded(slot, signal) {
    try {
      const part = await loadPart(this.asked, slot.number, signal);
      if (part.first !== this.found.first) return this.how.changed();
      this.#keeping(() => {
        slot.part = part;
        this.#fill(slot);
      });
    } catch (problem) {
      if (!isAborted(problem)) fill(slot.node, problemNotice(problem, () => void this.#load(slot)));
    }
  }

  /** @param {Slot} slot */
  #fill(slot) {
    const { before, passages } = /** @type {Part} */ (slot.part);
    const how = { ...this.how, format: this.found.format };
    slot.node.style.height = "";
    fill(slot.node, passages.map((passage, at) => passageElement(passage, passages[at - 1] ?? before, how)));
  }

  /** Change the height of a part; what is seen stays where it is. @param {() => void} change */
  #keeping(change) {
    const anchor = this.#anchor();
    const before = anchor?.getBoundingClientRect().top ?? 0;
    const passage = anchor?.getAttribute("data-passage");
    change();
    const same = passage ? this.node.querySelector(`[data-passage="${passage}"]`) : anchor;
    if (same) this.node.scrollTop += same.getBoundingClientRect().top - before;
  }

  /** What shall stay: a passage that is seen, or else the first part of what is seen. */
  #anchor() {
    const { top, bottom } = this.node.getBoundingClientRect();
    const seen = this.#slots.filter(({ node }) => isBetween(node, top, bottom));
    const shown = seen.find(({ part }) => part);
    const passages = shown ? [...shown.node.querySelectorAll(".passage")] : [];
    return passages.find((passage) => isBetween(passage, top, bottom)) ?? seen[0]?.node ?? null;
  }
}

/** Whether some of an element is between two heights. @param {Element} node @param {number} top @param {number} bottom */
function isBetween(node, top, bottom) {
  const box = node.getBoundingClientRect();
  return box.bottom > top && box.top < bottom;
}

// A passage: headings that are new, its text with the answers marked, places in the margin

/**
 * @param {PlacedPassage} passage @param {PlacedPassage | null} before the passage before it, if that is known
 * @param {{format: string, headingTag: "h2" | "h3", answers: (sentence: number) => Answer | undefined}} how
 */
function passageElement(passage, before, { format, headingTag, answers }) {
  return element(
    "div",
    { class: "passage", "data-passage": passage.passage_id, "data-where": whereOf(passage) },
    newHeadings(passage, before).map(([depth, heading]) =>
      element(headingTag, { class: "source-heading", "data-depth": depth, dir: "auto" }, heading),
    ),
    element(
      "p",
      { class: isSource(format) ? "source-text verbatim mono" : isCode(passage.text) ? "source-text verbatim" : "source-text", dir: "auto" },
      pieces(passage, markersOf(passage, before, format), format, answers),
    ),
  );
}

/** The headings and the page of a passage. @param {PlacedPassage} passage */
function whereOf({ headings, page }) {
  return [headings.join(" › "), page === null ? "" : `p. ${page}`].filter(Boolean).join(" · ");
}

/** The headings above a passage that the one before it does not have, with their depths. @param {PlacedPassage} passage @param {PlacedPassage | null} before @returns {[number, string][]} */
function newHeadings({ headings }, before) {
  const same = before ? headings.findIndex((heading, at) => heading !== before.headings[at]) : 0;
  if (same < 0) return [];
  return headings.slice(same).map((heading, at) => [Math.min(same + at + 1, 6), heading]);
}

/** What stands in the margin, by the number of the sentence. @param {PlacedPassage} passage @param {PlacedPassage | null} before @param {string} format @returns {Map<number, string>} */
function markersOf(passage, before, format) {
  /** @type {Map<number, string>} */
  const markers = new Map();
  let last = before?.sentences.at(-1)?.place ?? null;
  for (const [number, { place, line }] of passage.sentences.entries()) {
    const words = [];
    if (number === 0 && passage.page !== null && passage.page !== before?.page) words.push(`p. ${passage.page}`);
    if (place !== null && place !== last && format !== "pdf" && !isNamed(place, passage.headings)) words.push(place);
    if (number === 0 && !words.length && !isLineless(format)) words.push(`line ${line}`);
    if (words.length) markers.set(number, words.join(", "));
    last = place;
  }
  return markers;
}

/** Whether the heading above says a place already, as that of a function does. @param {string} place @param {string[]} headings */
function isNamed(place, headings) {
  return headings.at(-1)?.includes(place.split(".").at(-1) ?? place) ?? false;
}

/** The text in pieces: as it is, marked, and with markers before sentences. @param {PlacedPassage} passage @param {Map<number, string>} markers @param {string} format @param {(sentence: number) => Answer | undefined} answers */
function pieces(passage, markers, format, answers) {
  const text = isSource(format) ? passage.text : unwrapped(passage.text);
  const offset = offsetsIn(text);
  const made = [];
  let done = 0;
  for (const [number, { sentence_id, start, end }] of passage.sentences.entries()) {
    const marker = markers.get(number);
    const answer = answers(sentence_id);
    const first = offset(start);
    if ((!marker && !answer) || first < done) continue;
    made.push(text.slice(done, first));
    done = first;
    if (marker) made.push(element("span", { class: "source-place", title: marker }, marker), " ");
    if (!answer) continue;
    done = offset(end);
    for (const next of passage.sentences.slice(number + 1)) {
      if (answers(next.sentence_id) || inked(text.slice(first, done)) >= inked(answer.text)) break;
      done = offset(next.end);
    }
    made.push(element("mark", { "data-sentence": sentence_id, tabindex: "-1" }, text.slice(first, done)));
  }
  made.push(text.slice(done));
  return made;
}

/** How much of a text is no space: an answer of several sentences may be spaced in its own way. @param {string} text */
function inked(text) {
  return text.replaceAll(/\s/g, "").length;
}

// Offsets: the server counts characters, JavaScript halves of those beyond 65,535

const BEYOND = /[\ud800-\udbff][\udc00-\udfff]/g;

/** A function from offsets in characters to offsets in this text. @param {string} text @returns {(offset: number) => number} */
function offsetsIn(text) {
  const beyond = [...text.matchAll(BEYOND)].map(({ index }, before) => index - before); // in characters
  if (!beyond.length) return (offset) => offset;
  return (offset) => offset + countBelow(beyond, offset);
}

/** How many of rising numbers are below one. @param {number[]} numbers @param {number} one */
function countBelow(numbers, one) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < one) low = middle + 1;
    else high = middle;
  }
  return low;
}
