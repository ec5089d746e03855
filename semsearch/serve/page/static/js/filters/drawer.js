// @ts-check
/** Filters on a narrow screen: the panel of the side, in a dialog while it is open. */

import { element } from "../dom.js";

export class FilterDrawer {
  /** @param {HTMLElement} side where the panel is otherwise @param {HTMLElement} panel */
  constructor(side, panel) {
    this.side = side;
    this.panel = panel;
    this.body = element("div");
    this.dialog = element(
      "dialog",
      { class: "drawer", "aria-label": "Filters", on: { close: () => this.side.append(this.panel), click: (event) => this.#outside(event) } },
      this.body,
      element("form", { method: "dialog" }, element("button", { class: "button main" }, "Show the passages")),
    );
  }

  open() {
    this.body.append(this.panel);
    this.dialog.showModal();
  }

  /** @param {Event} event */
  #outside(event) {
    if (event.target === this.dialog) this.dialog.close();
  }
}
