// @ts-check
/** A list that is asked for when it is opened, a page at a time: the problems of an index, how much of each file was read. */

import { get, isAborted } from "../api.js";
import { element, fill, say } from "../dom.js";
import { problemNotice } from "../notices.js";

const PAGE = 50;

export class PagedList {
  #offset = 0;

  /**
   * @param {string} heading @param {{path: string, index: string, field: string, none: string}} of
   * @param {(item: any) => import("../dom.js").Child} row @param {AbortSignal} signal
   */
  constructor(heading, of, row, signal) {
    this.of = of;
    this.row = row;
    this.signal = signal;
    this.list = element("ul", { class: "paged" });
    this.more = element("button", { type: "button", class: "button", hidden: true, on: { click: () => void this.#next() } }, "More");
    this.trouble = element("div", {});
    this.node = element("details", { class: "paged-list", on: { toggle: () => this.#opened() } }, element("summary", {}, heading), this.list, this.trouble, this.more);
  }

  #opened() {
    if (this.node.open && this.list.childElementCount === 0) void this.#next();
  }

  async #next() {
    this.more.disabled = true;
    fill(this.trouble);
    try {
      const answer = await get(this.of.path, { index: this.of.index, offset: this.#offset, limit: PAGE }, { signal: this.signal });
      const items = answer[this.of.field];
      this.list.append(...items.map((/** @type {any} */ item) => element("li", {}, this.row(item))));
      if (this.list.childElementCount === 0) this.list.append(element("li", { class: "soft" }, this.of.none));
      this.#offset = answer.next ?? this.#offset;
      this.more.hidden = answer.next === null;
      say(`${items.length} more`);
    } catch (problem) {
      if (!isAborted(problem)) fill(this.trouble, problemNotice(problem, () => void this.#next()));
    }
    this.more.disabled = false;
  }
}
