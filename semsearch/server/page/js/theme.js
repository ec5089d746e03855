/** Light, dark, or as the system has it: a switch, remembered. */

import { element } from "./dom.js";

/** @typedef {"system" | "light" | "dark"} Theme */

/** @type {Theme[]} */
const THEMES = ["system", "light", "dark"];
const SAYS = { system: "as the system", light: "light", dark: "dark" };
const SIGNS = { system: "◐", light: "○", dark: "●" };
const listeners = new Set();

/** The theme that the user chose. @returns {Theme} */
function chosenTheme() {
  return /** @type {Theme} */ (document.documentElement.dataset.theme ?? "system");
}

/** The colour of a token such as "accent" as the canvas can use it: `rgb(…)`. @param {string} token */
export function colour(token) {
  const probe = element("span", { hidden: true });
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** Call a function whenever colours change. Returns a function that ends it. @param {() => void} listener */
export function onThemeChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A button that goes through the themes. */
export function themeSwitch() {
  const sign = element("span", { "aria-hidden": "true" });
  const button = element("button", { type: "button", class: "button quiet theme", on: { click: next } }, sign);
  show();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  return button;

  function next() {
    choose(THEMES[(THEMES.indexOf(chosenTheme()) + 1) % THEMES.length]);
    show();
  }

  function show() {
    const says = `Colours: ${SAYS[chosenTheme()]}`;
    sign.textContent = SIGNS[chosenTheme()];
    button.setAttribute("aria-label", says);
    button.title = says;
  }
}

/** @param {Theme} theme */
function choose(theme) {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem("theme");
    else localStorage.setItem("theme", theme);
  } catch {
    // storage is switched off: until the page is left, then
  }
  tell();
}

function tell() {
  for (const listener of listeners) listener();
}
