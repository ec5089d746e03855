/** What stands beside the map: what its colours mean, the passages in view or found, and its making where there is none. */

import { ApiProblem, follow } from "./api.js";
import { element, fill, say } from "./dom.js";
import { groupToken } from "./map_painting.js";
import { beginningOf, positionOf, shortPath, sourceAddress, titleOf } from "./passages.js";
import { notice } from "./widgets.js";

/** @import { Hit, MapPassage } from "./passages.js" */

/** @typedef {{by: string, groups: {name: string, passages: number}[]}} Colouring */

/** What the colours mean: by folder, type or document, each group with a switch that hides its points. */
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
    this.node = element("section", { class: "map-legend", "aria-label": "Colours", hidden: true }, element("label", { class: "row small" }, "Colour by", this.choice), this.list);
  }

  /** @param {Colouring[]} colourings */
  show(colourings) {
    this.#colourings = colourings;
    this.node.hidden = false;
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

// Passages, hits or what is in view: each leads to its source, and to its point

const LONGEST = 180; // characters of a passage

/**
 * An item for a passage. `find` is called when its point is asked for, `point` when it is pointed at.
 * @param {Hit | MapPassage} passage @param {string} index @param {string} query
 * @param {{find: () => void, point: (on: boolean) => void, isOnMap: boolean}} does
 */
export function passageItem(passage, index, query, { find, point, isOnMap }) {
  const address = sourceAddress(passage, { query, index, mode: "hybrid", filters: [] });
  const title = titleOf(passage);
  const text = beginningOf("sentence" in passage ? passage.sentence : passage.text, LONGEST);
  const button = element("button", { type: "button", class: "button quiet", "aria-label": `Find on the map: ${title}`, on: { click: find } }, "Find");
  return element(
    "li",
    { class: "map-passage", on: { pointerenter: () => point(true), pointerleave: () => point(false) } },
    "rank" in passage ? element("span", { class: "map-rank", "aria-hidden": "true" }, String(passage.rank)) : null,
    element(
      "div",
      { class: "map-passage-text" },
      element("a", { href: address, dir: "auto" }, title),
      element("p", { class: "small", dir: "auto" }, text),
      element("p", { class: "small soft" }, element("bdi", {}, shortPath(passage)), positionOf(passage)),
    ),
    isOnMap ? button : null,
  );
}

// Making a map

const SAYS = /** @type {Record<string, string>} */ ({
  reading: "Reading",
  comparing: "Comparing passages",
  arranging: "Arranging passages",
  naming: "Naming regions",
  writing: "Saving the map",
});

/** Have the server make the map, and show how far it is. @param {HTMLElement} place @param {string} index @param {AbortSignal} signal */
export async function makeMap(place, index, signal) {
  const bar = element("progress", { "aria-label": "Progress", max: 1 });
  const words = element("p", { class: "small soft" }, "Waiting");
  fill(place, notice("Making the map", bar, words));
  say("Making the map");
  /** @type {any} */
  let about;
  await follow("/v1/map", { index }, (name, data) => {
    if (name === "report") about = data;
    if (name === "problem") throw new ApiProblem(data.status, data.title, data.detail);
    if (name !== "progress") return;
    const { phase, done, total } = data;
    if (total) bar.value = done / total;
    else bar.removeAttribute("value");
    const says = SAYS[phase] ?? phase;
    words.textContent = total ? `${says}: ${Math.floor((100 * done) / total)}%` : says;
    say(says);
  }, { signal });
  return about;
}

/** What is said where there is no map yet. @param {number} passages @param {() => void} make */
export function noMapYet(passages, make) {
  const seconds = Math.max(1, Math.round(passages / 1000));
  const says = seconds < 60 ? `about ${seconds} seconds` : `about ${Math.round(seconds / 60) || 1} minutes`;
  return notice(
    "There is no map of this index yet",
    element("p", {}, `A map shows its ${passages.toLocaleString("en")} passages as points; those about the same topic are close together. Making it takes ${says}, once.`),
    element("p", {}, element("button", { type: "button", class: "button main", on: { click: make } }, "Make the map")),
  );
}
