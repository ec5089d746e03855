// @ts-check
/** The filters that hold now, each a chip that takes it away. */

import { element } from "../dom.js";

/** @param {string[]} filters @param {(left: string[]) => void} change */
export function chips(filters, change) {
  if (!filters.length) return [];
  const without = (/** @type {string} */ filter) => change(filters.filter((each) => each !== filter));
  const clear = element("button", { type: "button", class: "button quiet", on: { click: () => change([]) } }, "Remove all");
  return [...filters.map((filter) => chip(filter, () => without(filter))), filters.length > 1 ? clear : null];
}

/** @param {string} filter @param {() => void} remove */
function chip(filter, remove) {
  return element(
    "button",
    { type: "button", class: "chip", "aria-label": `Remove the filter ${filter}`, on: { click: remove } },
    element("bdi", {}, filter),
    element("span", { "aria-hidden": "true" }, "×"),
  );
}
