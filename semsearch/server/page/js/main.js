/** The page: its bar, its views, and what happens when something goes wrong. */

import { askTokenBy } from "./api.js";
import { element, fill } from "./dom.js";
import { bindKeys, searchBox, showKeys, startKeys } from "./input.js";
import { addressOf, go, parseAddress, startRouter } from "./router.js";
import { problemNotice } from "./widgets.js";

/** @import { Route } from "./router.js" */

/**
 * The views of the page, one line each: name in the address, label in the bar (null: not in the bar), module.
 * A module exports `mount(container, params)`, which returns a function that ends the view (router.js has the types).
 * @type {Route[]}
 */
const ROUTES = [
  { name: "search", label: "Search", load: () => import("./search.js") },
  { name: "map", label: "Map", load: () => import("./map.js") },
  { name: "health", label: "Health", load: () => import("./health.js") },
  { name: "document", label: null, load: () => import("./document.js") },
];

const main = find("#main");
const links = ROUTES.filter((route) => route.label !== null).map((route) => ({
  route,
  link: element("a", { href: addressOf(route.name), on: { click: (event) => carryOn(event, route.name) } }, route.label),
}));

askTokenBy(askForToken);
find(".bar-box").append(searchBox.form);
searchBox.tell({
  typed() {},
  entered: () => go(addressOf("search", searchBox.query ? { q: searchBox.query } : {})),
});
if (links.length > 1) fill(find(".views"), ...links.map(({ link }) => link));
fill(find(".bar-end"), keysButton());
find(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address names the view
  main.focus();
});
startKeys();
bindKeys([
  { keys: ["/"], says: "go to the search box", run: () => searchBox.focus() },
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
  return element("button", { type: "button", class: "button quiet keys-hint", "aria-label": "Keys", title: "Keys (?)", on: { click: showKeys } }, "?");
}

/** @param {Route} shown */
function show(shown) {
  document.title = shown.name === "search" ? "semsearch" : `${shown.label ?? shown.name} – semsearch`;
  for (const { route, link } of links) {
    if (route === shown) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

// The dialog that asks for the server's token, where the server wants it

/** Ask the user for the token. @param {string} why @returns {Promise<string>} */
function askForToken(why) {
  const field = element("input", { class: "field mono", id: "token", type: "password", autocomplete: "off", required: true });
  const form = element(
    "form",
    { method: "dialog" },
    element("h2", { id: "token-title" }, "This server requires a token"),
    element("p", {}, "On the machine where it runs, ", element("code", {}, "semsearch serve --show-token"), " prints it."),
    element("p", { class: "small soft" }, /wrong/.test(why) && "The token that was sent is wrong."),
    element("label", { for: "token" }, "Token"),
    field,
    element("div", { class: "row" }, element("button", { class: "button main" }, "Continue")),
    element("p", { class: "small soft" }, "The token is kept until this tab is closed."),
  );
  const dialog = element("dialog", { "aria-labelledby": "token-title", on: { cancel: (event) => event.preventDefault() } }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(field.value.trim());
    });
  });
}
