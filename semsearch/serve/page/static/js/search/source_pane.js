// @ts-check
/** The source of a hit beside the hits, where the screen is wide enough: the view of documents in a pane. */

import { element, fill } from "../dom.js";
import { problemNotice } from "../notices.js";
import { addressOf } from "../router.js";
import { ROUTES } from "../routes.js";

const WIDE = matchMedia("(min-width: 80rem)"); // as in css/search.css

export class SourcePane {
  #turn = 0;
  /** @type {import("../router.js").Mounted | null} */
  #mounted = null;

  /** @param {() => void} closed */
  constructor(closed) {
    this.body = element("div", { class: "pane-body" });
    this.alone = element("a", { class: "button quiet" }, "Full page");
    const close = element("button", { type: "button", class: "button quiet", "aria-label": "Close the source", on: { click: closed } }, "×");
    this.node = element("aside", { class: "source-pane", "aria-label": "Source", hidden: true }, element("div", { class: "pane-bar" }, this.alone, close), this.body);
  }

  /** Whether there is room for it, and a view of documents. */
  get fits() {
    return WIDE.matches && this.#route !== undefined;
  }

  get isOpen() {
    return !this.node.hidden;
  }

  get #route() {
    return ROUTES.find(({ name }) => name === "document");
  }

  /** Show a source. @param {URLSearchParams} params */
  async open(params) {
    const mine = ++this.#turn;
    this.node.hidden = false;
    this.alone.setAttribute("href", addressOf("document", params));
    try {
      const view = await this.#route?.load();
      if (mine !== this.#turn || !view) return;
      this.#unmount();
      const mounted = await view.mount(this.body, params);
      if (mine === this.#turn) this.#mounted = mounted;
      else end(mounted);
    } catch (problem) {
      if (mine === this.#turn) fill(this.body, problemNotice(problem));
    }
  }

  close() {
    this.#turn++;
    this.#unmount();
    fill(this.body);
    this.node.hidden = true;
  }

  #unmount() {
    if (this.#mounted) end(this.#mounted);
    this.#mounted = null;
  }
}

/** @param {import("../router.js").Mounted} mounted */
function end(mounted) {
  if (typeof mounted === "function") mounted();
  else mounted.unmount();
}
