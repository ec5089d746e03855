// @ts-check
/** A command that can be copied. */

import { copyText } from "../clipboard.js";
import { element } from "../dom.js";

/** @param {string} text */
export function command(text) {
  const button = element("button", { type: "button", class: "button quiet", "aria-label": `Copy the command ${text}` }, "Copy");
  button.addEventListener("click", async () => void (button.textContent = (await copyText(text)) ? "Copied" : "Select it"));
  button.addEventListener("blur", () => void (button.textContent = "Copy"));
  return element("div", { class: "to-copy" }, element("code", {}, text), button);
}
