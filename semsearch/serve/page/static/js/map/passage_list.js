// @ts-check
/** Passages beside the map, hits or what is in view: each leads to its source, and to its point. */

import { element } from "../dom.js";
import { sourceAddress, titleOf } from "../hits/context.js";
import { beginningOf } from "../hits/excerpt.js";
import { positionOf, shortPath } from "../hits/place.js";

const LONGEST = 180; // characters of a passage

/**
 * An item for a passage. `find` is called when its point is asked for, `point` when it is pointed at.
 * @param {any} passage a hit, or one of /v1/map/passages @param {string} index @param {string} query
 * @param {{find: () => void, point: (on: boolean) => void, isOnMap: boolean}} does
 */
export function passageItem(passage, index, query, { find, point, isOnMap }) {
  const address = sourceAddress(passage, { query, index, mode: "hybrid", filters: [] });
  const title = titleOf(passage);
  const text = beginningOf(passage.sentence ?? passage.text, LONGEST);
  const button = element("button", { type: "button", class: "button quiet", "aria-label": `Find on the map: ${title}`, on: { click: find } }, "Find");
  return element(
    "li",
    { class: "map-passage", on: { pointerenter: () => point(true), pointerleave: () => point(false) } },
    passage.rank ? element("span", { class: "map-rank", "aria-hidden": "true" }, String(passage.rank)) : null,
    element(
      "div",
      { class: "map-passage-text" },
      address ? element("a", { href: address, dir: "auto" }, title) : element("span", { class: "map-passage-title", dir: "auto" }, title),
      element("p", { class: "small", dir: "auto" }, text),
      element("p", { class: "small soft" }, element("bdi", {}, shortPath(passage)), positionOf(passage)),
    ),
    isOnMap ? button : null,
  );
}
