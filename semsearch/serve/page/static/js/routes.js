// @ts-check
/**
 * The views of the page, one line each: name in the address, label in the bar (null: not in the bar), module.
 * A module exports `mount(container, params)`, which returns a function that ends the view (js/router.js has the types).
 */

/** @type {import("./router.js").Route[]} */
export const ROUTES = [
  { name: "search", label: "Search", load: () => import("./views/search.js") },
  { name: "map", label: "Map", load: () => import("./views/map.js") },
  { name: "health", label: "Health", load: () => import("./views/health.js") },
  { name: "document", label: null, load: () => import("./views/document.js") },
];

/** Whether there is a view of this name. @param {string} name */
export function hasView(name) {
  return ROUTES.some((route) => route.name === name);
}
