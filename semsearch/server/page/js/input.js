/** What the user types: the search box in the bar, which every view has, and the keys, bound by whoever they concern. */

import { element } from "./dom.js";

// The search box

/** @typedef {{typed: () => void, entered: () => void, emptied?: () => void}} BoxUser */

/** The search view answers as one types; from other views Enter leads there. */
class SearchBox {
  /** @type {BoxUser | null} */
  #user = null;

  constructor() {
    this.input = element("input", {
      id: "box", class: "field box", type: "search", "aria-label": "Search", placeholder: "Ask in your own words",
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", dir: "auto", maxlength: 10_000,
      on: { input: () => this.#user?.typed(), keydown: (event) => this.#pressed(event) },
    });
    this.form = element(
      "form",
      { role: "search", class: "box-form", on: { submit: (event) => this.#entered(event) } },
      this.input,
      element("kbd", { class: "box-key", "aria-hidden": "true" }, "/"),
    );
  }

  get query() {
    return this.input.value;
  }

  set query(query) {
    if (this.input.value !== query) this.input.value = query;
  }

  /** Have somebody hear what is typed; returns a function that has the one before hear it again. @param {BoxUser} user */
  tell(user) {
    const before = this.#user;
    this.#user = user;
    return () => void (this.#user = before);
  }

  /** Have the focus, with what is there selected, or to go on with. */
  focus({ select = true } = {}) {
    this.input.focus();
    if (select) this.input.select();
    else this.input.setSelectionRange(this.query.length, this.query.length);
  }

  /** @param {Event} event */
  #entered(event) {
    event.preventDefault();
    this.#user?.entered();
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    if (event.key === "?" && !this.query) {
      event.preventDefault();
      showKeys();
    }
    if (event.key === "Backspace" && !this.query && !event.repeat) this.#user?.emptied?.();
  }
}

/** The one box of the page. */
export const searchBox = new SearchBox();

// Keys, and a dialog that lists them

/**
 * Keys that do something. `run` returns false where it has nothing to do; the key then goes on to others.
 * @typedef {object} Binding
 * @property {string[]} keys as in KeyboardEvent.key
 * @property {string} says what they do, for the list
 * @property {(event: KeyboardEvent) => void | boolean} run
 * @property {boolean} [inFields] also while somebody types
 */

/** @type {Binding[][]} */
const bound = [];
/** @type {Record<string, string>} */
const SHOWN = { ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", " ": "Space" };
const STORED = "letter-keys";

/** Bind keys; those bound last come first. Returns a function that ends it. @param {Binding[]} bindings */
export function bindKeys(bindings) {
  bound.unshift(bindings);
  return () => void bound.splice(bound.indexOf(bindings), 1);
}

/** Listen to keys from now on. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]") || (event.key.length === 1 && !lettersOn())) return;
    const types = isField(event.target);
    const fitting = bound.flat().filter(({ keys, inFields }) => keys.includes(event.key) && (inFields || !types));
    if (fitting.some(({ run }) => run(event) !== false)) event.preventDefault();
  });
}

/** @param {EventTarget | null} target */
function isField(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["checkbox", "radio", "button"].includes(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Show which keys there are. */
export function showKeys() {
  const dialog = element(
    "dialog",
    { "aria-labelledby": "keys-title", class: "keys" },
    element("h2", { id: "keys-title" }, "Keys"),
    element("dl", { class: "key-list" }, ...bound.flat().filter(({ says }) => says).map(row)),
    element("label", { class: "row small" }, letterSwitch(), "Use single letters as keys"),
    element("form", { method: "dialog" }, element("button", { class: "button" }, "Close")),
  );
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

/** @param {Binding} binding */
function row({ keys, says }) {
  const shown = keys.map((key) => element("kbd", {}, SHOWN[key] ?? key));
  return element("div", {}, element("dt", {}, ...shown.flatMap((key, at) => (at ? [" ", key] : [key]))), element("dd", {}, says));
}

function letterSwitch() {
  return element("input", {
    type: "checkbox",
    checked: lettersOn(),
    on: { change: (event) => localStorage.setItem(STORED, event.target.checked ? "on" : "off") },
  });
}

function lettersOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true; // storage is switched off
  }
}
