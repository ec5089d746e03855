// @ts-check
/** What the colours of a map mean: by folder, type or document, each group with a switch that hides its points. */

import { element, fill } from "../dom.js";
import { groupToken } from "./colours.js";

/** @typedef {{by: string, groups: {name: string, passages: number}[]}} Colouring */

export class Legend {
  /** @type {Colouring[]} */
  #colourings = [];
  #by = 0;
  /** @type {boolean[]} */
  #isOff = [];

  /** @param {(by: number, count: number, isOff: boolean[]) => void} changed */
  constructor(changed) {
    this.changed = changed;
    this.choice = element("select", { class: "field map-by", "aria-label": "Colour by", on: { change: () => this.#choose(this.choice.selectedIndex) } });
    this.list = element("ul", { class: "map-groups", "aria-label": "Colours" });
    this.node = element("section", { class: "map-legend", "aria-label": "Colours" }, element("label", { class: "row small" }, "Colour by", this.choice), this.list);
  }

  /** @param {Colouring[]} colourings */
  show(colourings) {
    this.#colourings = colourings;
    fill(this.choice, ...colourings.map(({ by }) => element("option", {}, by)));
    const first = colourings.findIndex(({ groups }) => groups.length > 1);
    this.#choose(Math.max(first, 0));
    this.choice.selectedIndex = Math.max(first, 0);
  }

  /** @param {number} by */
  #choose(by) {
    this.#by = by;
    this.#isOff = this.#colourings[by].groups.map(() => false);
    fill(this.list, ...this.#colourings[by].groups.map((group, number) => this.#row(group, number)));
    this.#tell();
  }

  /** @param {{name: string, passages: number}} group @param {number} number */
  #row({ name, passages }, number) {
    const swatch = element("span", { class: "map-swatch", "aria-hidden": "true" });
    swatch.style.background = `var(--${groupToken(number)})`;
    const box = element("input", { type: "checkbox", checked: true, on: { change: () => this.#switch(number, !box.checked) } });
    return element("li", {}, element("label", { title: name }, box, swatch, element("bdi", { class: "map-group-name" }, name), element("span", { class: "soft small" }, passages.toLocaleString("en"))));
  }

  /** @param {number} number @param {boolean} isOff */
  #switch(number, isOff) {
    this.#isOff[number] = isOff;
    this.#tell();
  }

  #tell() {
    this.changed(this.#by, this.#colourings[this.#by].groups.length, this.#isOff);
  }
}
