// @ts-check
/** The colours of a map, as numbers for its pixels. css/map.css has them, light and dark. */

import { colour } from "../theme.js";

/** @typedef {import("./painter.js").Rgb} Rgb */

const GROUPS = 12;

/** The colours of groups: the last is that of all others. @param {number} count @returns {Rgb[]} */
export function groupColours(count) {
  return Array.from({ length: count }, (_, number) => rgb(colour(groupToken(number))));
}

/** The token of a group's colour. @param {number} number */
export function groupToken(number) {
  return `map-${(number % GROUPS) + 1}`;
}

/** The colour below the points. @returns {Rgb} */
export function paperColour() {
  return rgb(colour("map-paper"));
}

/** @returns {import("./overlay.js").Inks} */
export function inks() {
  return { ink: colour("ink"), paper: colour("map-paper"), accent: colour("map-hit"), accentInk: colour("map-hit-ink"), soft: colour("ink-soft") };
}

/** @param {string} css @returns {Rgb} */
function rgb(css) {
  const [red, green, blue] = (css.match(/[\d.]+/g) ?? ["0", "0", "0"]).map(Number);
  return [red, green, blue];
}
