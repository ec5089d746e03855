// @ts-check
/** The page: its bar, its views, and what happens when something goes wrong. */

import { askTokenBy } from "./api.js";
import { element, fill } from "./dom.js";
import { bindKeys, showKeys, startKeys } from "./keys.js";
import { problemNotice } from "./notices.js";
import { addressOf, go, parseAddress, startRouter } from "./router.js";
import { ROUTES } from "./routes.js";
import { searchBox } from "./search_box.js";
import { themeSwitch } from "./theme.js";
import { askForToken } from "./token_dialog.js";

const main = find("#main");
const links = ROUTES.filter((route) => route.label !== null).map((route) => ({
  route,
  link: element("a", { href: addressOf(route.name), on: { click: (event) => carryOn(event, route.name) } }, route.label),
}));

askTokenBy(askForToken);
find(".bar-box").append(searchBox.form);
searchBox.tell({ typed() {}, entered: () => go(addressOf("search", searchBox.query ? { q: searchBox.query } : {})) });
if (links.length > 1) fill(find(".views"), ...links.map(({ link }) => link));
fill(find(".bar-end"), keysButton(), themeSwitch());
find(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the view
  main.focus();
});
startKeys();
bindKeys([
  { keys: ["/"], says: "to the search box", run: () => searchBox.focus() },
  { keys: ["?"], says: "show the keys", run: showKeys },
]);
startRouter(main, ROUTES, show, (container, problem) => fill(container, problemNotice(problem)));

/** @param {string} selector @returns {HTMLElement} */
function find(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}

/** Go to another view with the question and the index that this one has. @param {MouseEvent} event @param {string} name */
function carryOn(event, name) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const [index, another] = parseAddress(location.hash).params.getAll("index");
  const kept = { ...(searchBox.query ? { q: searchBox.query } : {}), ...(index && !another ? { index } : {}) };
  go(addressOf(name, kept));
}

function keysButton() {
  return element("button", { type: "button", class: "button quiet", "aria-label": "Keys", title: "Keys (?)", on: { click: showKeys } }, "?");
}

/** @param {import("./router.js").Route} shown */
function show(shown) {
  document.title = shown.name === "search" ? "semsearch" : `${shown.label ?? shown.name} – semsearch`;
  for (const { route, link } of links) {
    if (route === shown) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}
