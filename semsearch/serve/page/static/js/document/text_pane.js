// @ts-check
/**
 * The text of a document. Only the parts near what is seen are elements; the others are boxes as high as they were, or
 * as parts usually are. What is seen stays where it is when a part above it turns out higher or lower.
 */

import { isAborted } from "../api.js";
import { element, fill } from "../dom.js";
import { problemNotice } from "../notices.js";
import { loadPart, SIZE } from "./parts.js";
import { passageElement } from "./passage.js";

const NEAR = "150%"; // of the height: how far from what is seen parts are shown
const SETTLED = 50; // milliseconds that a part is near before it is asked for
const USUAL = 3200; // pixels of a part, until one is known

/** @typedef {{node: HTMLElement, number: number, part: import("./parts.js").Part | null, ending: AbortController | null, loading: Promise<void> | null}} Slot */

export class TextPane {
  /** @type {Slot[]} */
  #slots = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #height = USUAL;
  /** @type {Set<Slot>} */
  #near = new Set();

  /**
   * @param {import("./asked.js").Asked} asked @param {import("./parts.js").Found} found
   * @param {{headingTag: "h2" | "h3", marked: (sentence: number) => boolean, changed: () => void}} how
   */
  constructor(asked, found, how) {
    this.asked = asked;
    this.found = found;
    this.how = how;
    this.node = element("div", { class: "source-scroll", tabindex: "0", role: "region", "aria-label": "Text of the document" });
    const count = Math.ceil(found.count / SIZE);
    this.#slots = Array.from({ length: count }, (_, number) => ({ node: element("div", { class: "source-part" }), number, part: null, ending: null, loading: null }));
    for (const { node } of this.#slots) node.style.height = `${this.#height}px`;
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
    const marked = sentence === null ? null : this.#mark(slot, sentence);
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

  /** @param {Slot} slot @param {number} sentence */
  #mark(slot, sentence) {
    return slot.node.querySelector(`[data-sentence="${sentence}"]`);
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
      else if (this.#near.delete(slot)) this.#leave(slot);
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
    const { before, passages } = /** @type {import("./parts.js").Part} */ (slot.part);
    const how = { ...this.how, format: this.found.format };
    slot.node.style.height = "";
    fill(slot.node, passages.map((passage, at) => passageElement(passage, passages[at - 1] ?? before, how)));
  }

  /** Leave a part that is far away now: as high, and empty. @param {Slot} slot */
  #leave(slot) {
    if (!slot.part) return slot.ending?.abort();
    if (slot.node.contains(document.activeElement)) return;
    slot.node.style.height = `${slot.node.getBoundingClientRect().height}px`;
    slot.part = null;
    fill(slot.node);
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
