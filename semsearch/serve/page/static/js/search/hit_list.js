// @ts-check
/** The list of hits, and how one moves in it. */

import { element, fill } from "../dom.js";
import { hitCard } from "../hits/hit_card.js";

export class HitList {
  constructor() {
    this.node = element("ol", { class: "hits" });
  }

  /** @param {any[]} hits @param {import("../hits/context.js").HitContext} context */
  show(hits, context) {
    fill(this.node, hits.map((hit) => hitCard(hit, context)));
  }

  /** @returns {HTMLElement[]} */
  get cards() {
    return /** @type {HTMLElement[]} */ ([...this.node.children]);
  }

  /** The card that has the focus, if one has. */
  get current() {
    return this.cards.find((card) => card.contains(document.activeElement)) ?? null;
  }

  /** Have the focus go down or up; false if there is no card there. @param {number} step */
  move(step) {
    const at = this.current ? this.cards.indexOf(this.current) + step : step > 0 ? 0 : -1;
    return this.focus(this.cards[at]);
  }

  /** Have a card get the focus; false if there is none. @param {HTMLElement | undefined} card */
  focus(card) {
    const target = /** @type {HTMLElement | null | undefined} */ (card?.querySelector(".hit-source"));
    if (!card || !target) return false;
    target.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** The card of a hit by its name. @param {string} name */
  byName(name) {
    return this.cards.find((card) => card.dataset.hit === name);
  }

  /** Press a button of the card that has the focus; false if none has. @param {string} selector */
  press(selector) {
    const button = /** @type {HTMLElement | null | undefined} */ (this.current?.querySelector(selector));
    button?.click();
    return Boolean(button);
  }
}
