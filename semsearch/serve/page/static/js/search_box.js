// @ts-check
/** The search box in the bar, which every view has. The search view answers as one types; from others Enter leads there. */

import { element } from "./dom.js";

/** @typedef {{typed: () => void, entered: () => void, emptied?: () => void}} BoxUser */

class SearchBox {
  /** @type {BoxUser | null} */
  #user = null;

  constructor() {
    this.input = element("input", {
      id: "box", class: "field box", type: "search", "aria-label": "Search", placeholder: "Ask in your own words",
      autocomplete: "off", autocapitalize: "off", spellcheck: "false", enterkeyhint: "search", dir: "auto", maxlength: 10_000,
      on: { input: () => this.#user?.typed(), keydown: (event) => this.#backspaced(event) },
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
  #backspaced(event) {
    if (event.key === "Backspace" && !this.query && !event.repeat) this.#user?.emptied?.();
  }
}

/** The one box of the page. */
export const searchBox = new SearchBox();
