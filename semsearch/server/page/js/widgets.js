/** Small elements that several views have: notices, problems, buttons that copy, counts in words. */

import { ApiProblem } from "./api.js";
import { element, say } from "./dom.js";

/** @import { Child } from "./dom.js" */

/** A few words with a heading. @param {string} heading @param {...Child} children */
export function notice(heading, ...children) {
  return element("section", { class: "notice" }, element("h2", {}, heading), ...children);
}

/** What went wrong, in words. `retry`, if given, is offered as a button. @param {unknown} problem @param {() => void} [retry] */
export function problemNotice(problem, retry) {
  const [heading, detail] = words(problem);
  const made = notice(heading, element("p", {}, detail), retry && retryButton(retry));
  made.classList.add("bad");
  made.setAttribute("role", "alert");
  return made;
}

/** @param {unknown} problem @returns {[string, string]} */
function words(problem) {
  if (problem instanceof ApiProblem) return [problem.title || "The request failed", problem.message];
  return ["Unexpected error", problem instanceof Error ? problem.message : String(problem)];
}

/** @param {() => void} retry */
function retryButton(retry) {
  return element("p", {}, element("button", { type: "button", class: "button", on: { click: retry } }, "Try again"));
}

/** A button that shows a sign in place of its label. @param {string} sign @param {string} label @param {() => void} click */
export function signButton(sign, label, click) {
  return element("button", { type: "button", class: "button quiet", "aria-label": label, title: label, on: { click } }, sign);
}

/** "1 passage", "1,234 passages". @param {number} count @param {string} thing */
export function counted(count, thing) {
  const things = thing.endsWith("x") ? `${thing}es` : `${thing}s`;
  return `${count.toLocaleString("en")} ${count === 1 ? thing : things}`;
}

// Copying, also where the browser keeps its clipboard from pages without encryption

/** Copy a text; returns whether it is in the clipboard now. @param {string} text */
async function copyText(text) {
  const done = (await byClipboard(text)) || bySelection(text);
  say(done ? "Copied" : "Copying failed");
  return done;
}

/**
 * A button that copies a text and says so until it loses the focus; `failed` is what it says where it could not.
 * @param {string} label @param {string} text @param {string} failed @param {Record<string, any>} [properties]
 */
export function copyButton(label, text, failed, properties = {}) {
  const button = element("button", { type: "button", class: "button", ...properties }, label);
  button.addEventListener("click", async () => void (button.textContent = (await copyText(text)) ? "Copied" : failed));
  button.addEventListener("blur", () => void (button.textContent = label));
  return button;
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
