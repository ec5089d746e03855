/** What the user types: the search box in the bar, which every view has, and the keys, bound by whoever they concern. */

import { element, fill } from "./dom.js";

// The search box

/** @typedef {{typed: () => void, entered: () => void, emptied?: () => void}} BoxUser */

/** The search view answers as one types; from other views Enter leads there. An earlier question completes the text. */
class SearchBox {
  /** @type {BoxUser | null} */
  #user = null;
  #rest = ""; // of the earlier question that begins with the text

  constructor() {
    this.input = element("input", {
      id: "box", class: "field box", type: "search", "aria-label": "Search", placeholder: "Ask in your own words",
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", dir: "auto", maxlength: 10_000,
      on: { input: () => this.#typed(), keydown: (event) => this.#pressed(event), blur: () => this.#offer("") },
    });
    this.offered = element("span", { class: "field box box-offered", "aria-hidden": "true", dir: "auto" });
    this.form = element(
      "form",
      { role: "search", class: "box-form", on: { submit: (event) => this.#entered(event) } },
      this.input,
      this.offered,
      element("kbd", { class: "box-key", "aria-hidden": "true" }, "/"),
    );
  }

  get query() {
    return this.input.value;
  }

  set query(query) {
    if (this.input.value === query) return;
    this.input.value = query;
    this.#offer("");
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

  #typed() {
    const { query } = this;
    const found = query.trim() ? earlierQuestions().find((each) => each.startsWith(query) && each !== query) : "";
    this.#offer(found ? found.slice(query.length) : "");
    this.#user?.typed();
  }

  /** Show how the text could go on, if there is room. @param {string} rest */
  #offer(rest) {
    fill(this.offered, ...(rest ? [element("span", { class: "box-typed" }, this.query), rest] : []));
    this.#rest = this.offered.scrollWidth > this.offered.clientWidth ? "" : rest;
    if (!this.#rest) fill(this.offered);
  }

  /** @param {KeyboardEvent} event */
  #pressed(event) {
    const { selectionStart, value } = this.input;
    if (event.key === "ArrowRight" && this.#rest && selectionStart === value.length && !event.shiftKey) {
      event.preventDefault();
      this.input.value += this.#rest;
      this.#typed();
    }
    if (event.key === "?" && !this.query) {
      event.preventDefault();
      showKeys();
    }
    if (event.key === "Backspace" && !this.query && !event.repeat) this.#user?.emptied?.();
  }
}

/** The one box of the page. */
export const searchBox = new SearchBox();

// Earlier questions, which only this browser keeps

const EARLIER = "earlier-questions", OFF = "off";
const MOST = 200, LONGEST = 500;

/** The questions of before, the newest first; none where they are not kept. @returns {string[]} */
function earlierQuestions() {
  try {
    const kept = JSON.parse(localStorage.getItem(EARLIER) ?? "[]");
    return Array.isArray(kept) ? kept.filter((each) => typeof each === "string") : [];
  } catch {
    return []; // they are not to be kept, or storage is switched off
  }
}

function keepsQuestions() {
  try {
    return localStorage.getItem(EARLIER) !== OFF;
  } catch {
    return false;
  }
}

/** Keep a question that was meant as it is: to complete others from. @param {string} query */
export function rememberQuestion(query) {
  const asked = query.trim();
  if (!asked || asked.length > LONGEST || !keepsQuestions()) return;
  const others = earlierQuestions().filter((each) => each !== asked);
  try {
    localStorage.setItem(EARLIER, JSON.stringify([asked, ...others].slice(0, MOST)));
  } catch {
    // there is no room
  }
}

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
    element("label", { class: "row small" }, questionSwitch(), "Keep questions in this browser, and complete new ones"),
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

/** Turned off, it deletes them. */
function questionSwitch() {
  return element("input", {
    type: "checkbox",
    checked: keepsQuestions(),
    on: { change: (event) => event.target.checked ? localStorage.removeItem(EARLIER) : localStorage.setItem(EARLIER, OFF) },
  });
}

function lettersOn() {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true; // storage is switched off
  }
}
