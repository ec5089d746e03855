// @ts-check
/** Copying text, also where the browser keeps its clipboard from pages without encryption. */

import { element, say } from "./dom.js";

/** Copy a text; returns whether it is in the clipboard now. @param {string} text */
export async function copyText(text) {
  const done = (await byClipboard(text)) || bySelection(text);
  say(done ? "Copied" : "It could not be copied");
  return done;
}

/** @param {string} text */
async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // there is none on a page of another machine, or it was not allowed
  }
}

/** The way before there were clipboards for pages. @param {string} text */
function bySelection(text) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = element("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
  field.value = text;
  document.body.append(field);
  field.select();
  try {
    return document.execCommand("copy");
  } finally {
    field.remove();
    focused?.focus({ preventScroll: true });
  }
}
