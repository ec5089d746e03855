// @ts-check
/** Copying a hit as a citation, in the form that one chooses. */

import { copyText } from "../clipboard.js";
import { element, fill } from "../dom.js";
import { citationsOf } from "./citation.js";
import { nameOf } from "./context.js";

/** @type {import("./hit_actions.js").HitAction} */
export const cite = { name: "cite", label: "Cite", key: "c", says: "copy as a citation", show };

/** @param {HTMLElement} panel @param {any} hit @param {import("./context.js").HitContext} context */
function show(panel, hit, context) {
  const forms = citationsOf(hit, linkTo(hit, context));
  fill(panel, element("h3", { class: "panel-heading" }, "Copy as"), element("ul", { class: "citations" }, forms.map(form)));
  panel.querySelector("button")?.focus();
}

/** The address of this page with the hit chosen. @param {any} hit @param {import("./context.js").HitContext} context */
function linkTo(hit, context) {
  const [view, query = ""] = location.hash.split("?");
  const params = new URLSearchParams(query);
  params.set("hit", nameOf(hit, context));
  return `${location.origin}${location.pathname}${view}?${params}`;
}

/** @param {import("./citation.js").Citation} citation */
function form({ name, label, text }) {
  const button = element("button", { type: "button", class: "button", "data-form": name }, label);
  button.addEventListener("click", async () => {
    const done = await copyText(text);
    button.textContent = done ? "Copied" : "Select and copy it here";
  });
  button.addEventListener("blur", () => void (button.textContent = label));
  return element("li", {}, button, element("pre", { class: "citation", dir: "auto", tabindex: "0" }, text));
}
