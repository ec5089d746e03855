/** A PDF page by page: its picture, boxes around the answers, zoom, and its text for those who do not see pictures. */

import { get, getBlob, isAborted, withId } from "./api.js";
import { element, fill, say } from "./dom.js";
import { problemNotice, signButton } from "./widgets.js";

/** @import { Asked } from "./document_data.js" */

const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4];
const GUTTER = 32; // pixels beside the sheet
const READABLE = 1.5; // pixels a point, of a page that has all the room that it needs

/** One page at a time, with its bar. */
export class PagePane {
  #zoom = 1;
  #turn = 0;
  #page = 0;
  /** @type {PdfPage | null} */
  #shown = null;
  /** @type {number | null} */
  #current = null;
  #ending = new AbortController();

  /**
   * @param {Asked} asked
   * @param {{name: string, marked: (sentence: number) => boolean, failed: (problem: unknown) => void, turned: (page: number) => void}} how
   */
  constructor(asked, how) {
    this.how = how;
    this.pages = new Pages(asked, this.#ending.signal);
    this.back = signButton("‹", "Previous page", () => this.turn(-1));
    this.forth = signButton("›", "Next page", () => this.turn(1));
    this.number = element("input", { class: "sheet-number", type: "text", inputmode: "numeric", "aria-label": "Page", on: { change: () => this.#typed() } });
    this.count = element("span", { class: "small soft" });
    this.size = element("button", { type: "button", class: "button quiet", title: "Fit to width", on: { click: () => this.zoom(0) } });
    this.picture = element("img", { class: "sheet-picture", alt: "" });
    this.boxes = element("div", { class: "sheet-boxes", "aria-hidden": "true" });
    this.sheet = element("div", { class: "sheet", hidden: true }, this.picture, this.boxes);
    this.note = element("p", { class: "sheet-note small", hidden: true });
    this.text = element("details", { class: "sheet-text" }, element("summary", {}, "Text of this page"));
    this.scroll = element("div", { class: "source-scroll sheet-scroll", tabindex: "0", role: "region", "aria-label": "Page" }, this.note, this.sheet, this.text);
    this.node = element("div", { class: "sheet-pane" }, this.#bar(), this.scroll);
    this.resized = new ResizeObserver(() => this.#fit());
    this.resized.observe(this.scroll);
  }

  #bar() {
    const smaller = signButton("−", "Zoom out", () => this.zoom(-1));
    const larger = signButton("+", "Zoom in", () => this.zoom(1));
    return element(
      "div",
      { class: "sheet-bar", role: "group", "aria-label": "Page" },
      element("div", { class: "row" }, this.back, this.number, this.count, this.forth),
      element("div", { class: "row" }, smaller, this.size, larger),
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
    this.size.textContent = `${Math.round(100 * this.#zoom)}%`;
  }

  /** @param {PdfPage} shown @param {boolean} isOther */
  #draw(shown, isOther) {
    this.#shown = shown;
    this.#page = shown.page;
    this.sheet.hidden = false;
    this.sheet.style.aspectRatio = `${shown.width} / ${shown.height}`;
    this.picture.alt = `Page ${shown.page} of ${this.how.name} as an image; its text follows`;
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

  /** @param {PdfPage} shown */
  #mark(shown) {
    const marked = shown.sentences.filter(({ sentence_id }) => this.how.marked(sentence_id));
    fill(this.boxes, marked.flatMap((sentence) => sentence.boxes.map((box) => this.#box(box, sentence.sentence_id))));
    const lost = marked.filter(({ boxes }) => !boxes.length);
    this.note.hidden = !lost.length;
    this.note.textContent = lost.length ? "The position of the sentence on the page was not found; it is marked in the text below the page." : "";
    const isOpen = this.text.open;
    fill(this.text, element("summary", {}, "Text of this page"), texts(shown, this.how.marked));
    this.text.open = isOpen || lost.some(({ sentence_id }) => sentence_id === this.#current);
  }

  /** @param {TextBox} box @param {number} sentence */
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

/** The text of a page, a paragraph for each passage, the answers marked. @param {PdfPage} page @param {(sentence: number) => boolean} marked */
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

// The pages of a PDF, asked for once each, and their pictures, of which the last few are kept

const KEPT = 8; // pictures
const STEP = 200; // pixels: pictures are asked for in so many widths only
const WIDEST = 4000;

/** @typedef {{left: number, top: number, width: number, height: number}} TextBox */
/** @typedef {{sentence_id: number, passage_id: number, text: string, boxes: TextBox[]}} PageSentence */
/** @typedef {{path: string, page: number, pages: number, label: string, width: number, height: number, sentences: PageSentence[]}} PdfPage */

/** The pages of a document on the server. */
class Pages {
  /** @type {Map<number, Promise<PdfPage>>} */
  #pages = new Map();
  /** @type {Map<string, Promise<string>>} */
  #pictures = new Map();

  /** @param {Asked} asked @param {AbortSignal} signal */
  constructor(asked, signal) {
    this.asked = asked;
    this.signal = signal;
  }

  /** A page, counted from 1. @param {number} page @returns {Promise<PdfPage>} */
  page(page) {
    const { index, id } = this.asked;
    return kept(this.#pages, page, () => get(withId("/v1/pages", id), { index, page }, { signal: this.signal }));
  }

  /** The address of its picture, at least so many pixels wide if it may be. @param {number} page @param {number} wanted @returns {Promise<string>} */
  picture(page, wanted) {
    const width = Math.min(Math.ceil(Math.max(wanted, 1) / STEP) * STEP, WIDEST);
    const found = kept(this.#pictures, `${page} ${width}`, () => this.#draw(page, width));
    while (this.#pictures.size > KEPT) this.#forget(/** @type {string} */ (this.#pictures.keys().next().value));
    return found;
  }

  /** Forget the pictures. */
  end() {
    for (const name of [...this.#pictures.keys()]) this.#forget(name);
  }

  /** @param {number} page @param {number} width */
  async #draw(page, width) {
    const { index, id } = this.asked;
    const blob = await getBlob(withId("/v1/pictures", id), { index, page, width }, { signal: this.signal });
    return URL.createObjectURL(blob);
  }

  /** @param {string} name */
  #forget(name) {
    const picture = this.#pictures.get(name);
    this.#pictures.delete(name);
    picture?.then((url) => URL.revokeObjectURL(url), () => {});
  }
}

/**
 * What is in a map, or is made now and put there: last, and not for good if it fails.
 * @template Key, Value
 * @param {Map<Key, Promise<Value>>} map @param {Key} key @param {() => Promise<Value>} make
 */
function kept(map, key, make) {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  value.catch(() => map.get(key) === value && map.delete(key));
  return value;
}
