// @ts-check
/** A PDF page by page: its picture, boxes around the answers, zoom, and its text for those who do not see pictures. */

import { isAborted } from "../api.js";
import { element, fill, say } from "../dom.js";
import { problemNotice } from "../notices.js";
import { Pages } from "./pages.js";

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const GUTTER = 32; // pixels beside the sheet
const READABLE = 1.5; // pixels a point, of a page that has all the room that it needs

export class PagePane {
  #zoom = 1;
  #turn = 0;
  #page = 0;
  /** @type {import("./pages.js").PdfPage | null} */
  #shown = null;
  /** @type {number | null} */
  #current = null;
  #ending = new AbortController();

  /**
   * @param {import("./asked.js").Asked} asked
   * @param {{name: string, marked: (sentence: number) => boolean, failed: (problem: unknown) => void, turned: (page: number) => void}} how
   */
  constructor(asked, how) {
    this.how = how;
    this.pages = new Pages(asked, this.#ending.signal);
    this.picture = element("img", { class: "sheet-picture", alt: "" });
    this.boxes = element("div", { class: "sheet-boxes", "aria-hidden": "true" });
    this.sheet = element("div", { class: "sheet", hidden: true }, this.picture, this.boxes);
    this.note = element("p", { class: "sheet-note small", hidden: true });
    this.text = element("details", { class: "sheet-text" });
    this.scroll = element("div", { class: "source-scroll sheet-scroll", tabindex: "0", role: "region", "aria-label": "Page" }, this.note, this.sheet, this.text);
    this.node = element("div", { class: "sheet-pane" }, this.#bar(), this.scroll);
    this.resized = new ResizeObserver(() => this.#fit());
    this.resized.observe(this.scroll);
  }

  #bar() {
    this.back = button("‹", "Page before", () => this.turn(-1));
    this.forth = button("›", "Next page", () => this.turn(1));
    this.number = element("input", { class: "sheet-number", type: "text", inputmode: "numeric", "aria-label": "Page", on: { change: () => this.#typed() } });
    this.count = element("span", { class: "small soft" });
    this.smaller = button("−", "Smaller", () => this.zoom(-1));
    this.larger = button("+", "Larger", () => this.zoom(1));
    this.size = element("button", { type: "button", class: "button quiet", title: "As wide as there is room", on: { click: () => this.zoom(0) } });
    return element(
      "div",
      { class: "sheet-bar", role: "group", "aria-label": "Page" },
      element("div", { class: "row" }, this.back, this.number, this.count, this.forth),
      element("div", { class: "row" }, this.smaller, this.size, this.larger),
    );
  }

  end() {
    this.#ending.abort();
    this.resized.disconnect();
    this.pages.end();
  }

  /** Show a page, and on it a sentence if one is given. @param {number} page @param {number | null} [sentence] */
  async show(page, sentence = null) {
    const mine = ++this.#turn;
    this.#current = sentence;
    this.scroll.setAttribute("aria-busy", "true");
    try {
      const [shown, url] = await Promise.all([this.pages.page(page), this.pages.picture(page, this.#pixels)]);
      if (mine !== this.#turn) return;
      this.picture.src = url;
      await this.picture.decode().catch(() => {}); // an image that another one replaces is not decoded
      if (mine !== this.#turn) return;
      this.#draw(shown, page !== this.#page);
      this.#ahead();
    } catch (problem) {
      if (!isAborted(problem) && mine === this.#turn) this.#failed(problem);
    } finally {
      if (mine === this.#turn) this.scroll.removeAttribute("aria-busy");
    }
  }

  /** Show the page so many after this one. @param {number} step */
  turn(step) {
    const page = this.#page + step;
    if (!this.#shown || page < 1 || page > this.#shown.pages) return false;
    void this.show(page);
    return true;
  }

  /** Show it larger, smaller, or as wide as there is room (0). @param {number} step */
  zoom(step) {
    const at = ZOOMS.findIndex((zoom) => zoom >= this.#zoom);
    const zoom = step === 0 ? 1 : ZOOMS[Math.min(Math.max(at + step, 0), ZOOMS.length - 1)];
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroll;
    const by = zoom / this.#zoom;
    this.#zoom = zoom;
    this.#fit();
    this.scroll.scrollLeft = (scrollLeft + clientWidth / 2) * by - clientWidth / 2;
    this.scroll.scrollTop = (scrollTop + clientHeight / 2) * by - clientHeight / 2;
    say(`${Math.round(100 * zoom)} percent`);
    void this.#sharpen();
  }

  /** Whether the page is wider than there is room. */
  get isWide() {
    return this.scroll.scrollWidth > this.scroll.clientWidth + 1;
  }

  /** Show again which sentences are marked. */
  remark() {
    if (this.#shown) this.#mark(this.#shown);
  }

  #typed() {
    const page = Number(this.number.value);
    const pages = this.#shown?.pages ?? 0;
    if (Number.isInteger(page) && page >= 1 && page <= pages) void this.show(page);
    else this.number.value = String(this.#page);
  }

  get #room() {
    return Math.max(this.scroll.clientWidth - GUTTER, 200);
  }

  /** The width of the page as it is shown at first. */
  get #width() {
    return Math.min(this.#room, READABLE * (this.#shown?.width ?? 600));
  }

  get #pixels() {
    return this.#width * this.#zoom * devicePixelRatio;
  }

  #fit() {
    this.sheet.style.width = `${Math.round(this.#width * this.#zoom)}px`;
    this.size.textContent = `${Math.round(100 * this.#zoom)} %`;
  }

  /** @param {import("./pages.js").PdfPage} shown @param {boolean} isOther */
  #draw(shown, isOther) {
    this.#shown = shown;
    this.#page = shown.page;
    this.sheet.hidden = false;
    this.sheet.style.aspectRatio = `${shown.width} / ${shown.height}`;
    this.picture.alt = `Page ${shown.page} of ${this.how.name} as a picture; its text follows`;
    this.number.value = String(shown.page);
    this.count.textContent = `of ${shown.pages}${shown.label && shown.label !== String(shown.page) ? ` (${shown.label})` : ""}`;
    this.back.toggleAttribute("disabled", shown.page <= 1);
    this.forth.toggleAttribute("disabled", shown.page >= shown.pages);
    this.#fit();
    if (isOther) this.scroll.scrollTop = 0;
    this.#mark(shown);
    this.#centre();
    if (isOther) say(`Page ${shown.page} of ${shown.pages}`);
    this.how.turned(shown.page);
  }

  /** @param {import("./pages.js").PdfPage} shown */
  #mark(shown) {
    const marked = shown.sentences.filter(({ sentence_id }) => this.how.marked(sentence_id));
    fill(this.boxes, marked.flatMap((sentence) => sentence.boxes.map((box) => this.#box(box, sentence.sentence_id))));
    const lost = marked.filter(({ boxes }) => !boxes.length);
    this.note.hidden = !lost.length;
    this.note.textContent = lost.length ? "Where it stands on the page was not found; it is marked in the text below the page." : "";
    const isOpen = this.text.open;
    fill(this.text, element("summary", {}, "Text of this page"), texts(shown, this.how.marked));
    this.text.open = isOpen || lost.some(({ sentence_id }) => sentence_id === this.#current);
  }

  /** @param {import("./pages.js").TextBox} box @param {number} sentence */
  #box({ left, top, width, height }, sentence) {
    const made = element("div", { class: sentence === this.#current ? "sheet-box current" : "sheet-box" });
    made.style.left = `${100 * left}%`;
    made.style.top = `${100 * top}%`;
    made.style.width = `${100 * width}%`;
    made.style.height = `${100 * height}%`;
    return made;
  }

  #centre() {
    const box = this.boxes.querySelector(".current");
    if (!box) return;
    const inner = box.getBoundingClientRect();
    const outer = this.scroll.getBoundingClientRect();
    this.scroll.scrollTop += inner.top - outer.top - outer.height / 3;
    this.scroll.scrollLeft += inner.left - outer.left - outer.width / 6;
  }

  /** A picture of the size that is shown. */
  async #sharpen() {
    const mine = this.#turn;
    try {
      const url = await this.pages.picture(this.#page, this.#pixels);
      if (mine === this.#turn) this.picture.src = url;
    } catch (problem) {
      if (!isAborted(problem) && mine === this.#turn) this.#failed(problem);
    }
  }

  /** Have the next page ready. */
  #ahead() {
    const next = this.#page + 1;
    if (!this.#shown || next > this.#shown.pages) return;
    this.pages.page(next).catch(() => {});
    this.pages.picture(next, this.#pixels).catch(() => {});
  }

  /** @param {unknown} problem */
  #failed(problem) {
    if (!this.#shown) return this.how.failed(problem);
    this.sheet.hidden = true;
    this.note.hidden = false;
    fill(this.note, problemNotice(problem, () => void this.show(this.#page, this.#current)));
  }
}

/** @param {string} shown @param {string} label @param {() => void} click */
function button(shown, label, click) {
  return element("button", { type: "button", class: "button quiet", "aria-label": label, title: label, on: { click } }, shown);
}

/** The text of a page, a paragraph for each passage, the answers marked. @param {import("./pages.js").PdfPage} page @param {(sentence: number) => boolean} marked */
function texts({ sentences }, marked) {
  if (!sentences.length) return [element("p", { class: "soft" }, "There is no text on this page.")];
  /** @type {Map<number, HTMLElement>} */
  const passages = new Map();
  for (const { passage_id, sentence_id, text } of sentences) {
    const passage = passages.get(passage_id) ?? element("p", { dir: "auto" });
    passages.set(passage_id, passage);
    passage.append(marked(sentence_id) ? element("mark", {}, text) : text, " ");
  }
  return [...passages.values()];
}
