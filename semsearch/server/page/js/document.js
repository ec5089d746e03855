/** The view of a document: its text as it is searched, or the pages of a PDF, at the sentence that was asked for. */

import { getBlob, isAborted, withId } from "./api.js";
import { answersIn, askedBy, findDocument, searchOf } from "./document_data.js";
import { PagePane } from "./document_pages.js";
import { TextPane } from "./document_text.js";
import { element, fill, say } from "./dom.js";
import { bindKeys, searchBox } from "./input.js";
import { shortPath } from "./passages.js";
import { addressOf } from "./router.js";
import { copyButton, problemNotice, signButton } from "./widgets.js";

/** @import { Answer, Asked, Found } from "./document_data.js" */
/** @import { Binding } from "./input.js" */
/** @import { Mounted } from "./router.js" */

/** @param {HTMLElement} container @param {URLSearchParams} params @returns {Mounted} */
export function mount(container, params) {
  const view = new DocumentView(container);
  view.arrive(params);
  return { unmount: () => view.end(), update: (shown) => view.arrive(shown) };
}

class DocumentView {
  #asked = askedBy(new URLSearchParams());
  #ending = new AbortController();
  /** @type {Found | null} */
  #found = null;
  /** @type {Answer[]} */
  #answers = [];
  #at = -1; // the answer that is looked at
  #frame = 0;
  /** @type {HTMLElement | null} */
  #switch = null;
  #isPdf = false;
  /** @type {TextPane | null} */
  #text = null;
  /** @type {PagePane | null} */
  #pages = null;

  /** @param {HTMLElement} container */
  constructor(container) {
    this.container = container;
    this.isBeside = container.closest("aside") !== null;
    this.head = element("header", { class: "source-head" });
    this.above = element("div", { class: "source-above" });
    this.body = element("div", { class: "source-body" });
    this.where = element("p", { class: "source-where small soft", dir: "auto" });
    this.count = element("span", { class: "small soft" });
    this.steps = element("div", { class: "row source-steps", hidden: true, role: "group", "aria-label": "Answers in this document" });
    this.node = element("article", { class: this.isBeside ? "source beside" : "source" }, this.head, this.above, this.body);
    fill(container, this.node);
    this.unbind = bindKeys(this.#keys());
  }

  /** @returns {Binding[]} */
  #keys() {
    return [
      { keys: ["n"], says: "next answer in this document", run: () => this.#step(1) },
      { keys: ["p"], says: "previous answer in this document", run: () => this.#step(-1) },
      { keys: ["t"], says: "PDF: switch between pages and text", run: () => this.#toggle() },
      { keys: ["ArrowRight", "]"], says: "PDF: next page", run: (event) => this.#turn(1, event) },
      { keys: ["ArrowLeft", "["], says: "PDF: previous page", run: (event) => this.#turn(-1, event) },
      { keys: ["+", "="], says: "PDF: zoom in", run: () => this.#zoom(1) },
      { keys: ["-"], says: "PDF: zoom out", run: () => this.#zoom(-1) },
      { keys: ["0"], says: "PDF: fit to width", run: () => this.#zoom(0) },
    ];
  }

  /** Show what an address asks for. @param {URLSearchParams} params */
  arrive(params) {
    this.#reset();
    this.#asked = askedBy(params);
    if (!this.isBeside) searchBox.query = this.#asked.query;
    void this.#load(this.#ending.signal);
  }

  end() {
    this.#reset();
    this.unbind();
  }

  #reset() {
    this.#ending.abort();
    this.#ending = new AbortController();
    this.#text?.end();
    this.#pages?.end();
    this.#text = this.#pages = this.#found = null;
    this.#answers = [];
    this.#at = -1;
  }

  /** @param {AbortSignal} signal */
  async #load(signal) {
    this.node.setAttribute("aria-busy", "true");
    try {
      const found = await findDocument(this.#asked, signal);
      this.#found = found;
      this.#answers = this.#target ? [this.#target] : [];
      this.#at = this.#answers.length - 1;
      this.#drawHead(found);
      this.#open(this.#asked.show ?? (found.format === "pdf" ? "pages" : "text"));
      await this.#addAnswers(found, signal);
    } catch (problem) {
      if (!isAborted(problem)) fill(this.above, problemNotice(problem, () => void this.#load(signal)));
    } finally {
      if (!signal.aborted) this.node.removeAttribute("aria-busy");
    }
  }

  /** The sentence that was asked for, if it still is in the document. @returns {Answer | null} */
  get #target() {
    const passage = this.#found?.target;
    const { sentence, line } = this.#asked;
    if (!passage) return null;
    const sought = passage.sentences.find((one) => one.sentence_id === sentence) ?? (sentence === null ? passage.sentences.findLast((one) => one.line <= (line ?? -1)) : undefined);
    return sought ? { sentence: sought.sentence_id, passage: passage.passage_id, page: passage.page, rank: null, score: null, text: "" } : null;
  }

  /** @param {Found} found @param {AbortSignal} signal */
  async #addAnswers(found, signal) {
    const target = this.#answers[0] ?? null;
    const answers = await answersIn(this.#asked, found.path, target, signal);
    this.#answers = answers;
    this.#at = answers.findIndex(({ sentence }) => sentence === target?.sentence);
    this.#text?.remark();
    this.#pages?.remark();
    this.#drawSteps();
  }

  // What is shown

  /** @param {Found} found */
  #drawHead(found) {
    const tag = this.isBeside ? "h2" : "h1";
    const name = shortPath(found);
    const search = this.isBeside ? null : searchOf(this.#asked);
    this.#isPdf = found.format === "pdf" && found.root !== "";
    this.#switch = this.#isPdf ? element("button", { type: "button", class: "button source-switch", on: { click: () => this.#toggle() } }) : null;
    fill(
      this.head,
      element(
        "div",
        { class: "source-name" },
        search && element("a", { class: "source-back small", href: addressOf("search", search) }, "← Passages"),
        element(tag, { class: "source-title", dir: "auto" }, found.title || name),
      ),
      element(
        "div",
        { class: "source-tools" },
        element("p", { class: "source-path small soft" }, element("bdi", { title: found.path }, name), " · ", found.format, copyPath(found), found.root !== "" && this.#fileButton(found)),
        this.where,
        this.steps,
        this.#switch,
      ),
    );
    fill(this.above, notes(found, this.#asked, this.#target !== null));
    this.#drawSteps();
    if (!this.isBeside) document.title = `${found.title || name} – semsearch`;
  }

  /** A button that hands the file to the browser, to be opened or kept. @param {Found} found */
  #fileButton(found) {
    return element("button", { type: "button", class: "button quiet", title: "Open a copy of the file", on: { click: () => void this.#openFile(found) } }, "Open file");
  }

  /** @param {Found} found */
  async #openFile(found) {
    try {
      const file = await getBlob(withId("/v1/files", found.path), { index: this.#asked.index }, { signal: this.#ending.signal });
      const link = element("a", { href: URL.createObjectURL(file), download: found.path.split(/[\\/]/).at(-1) ?? "" });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    } catch (problem) {
      if (!isAborted(problem)) fill(this.above, problemNotice(problem));
    }
  }

  #drawSteps() {
    this.steps.hidden = !this.#answers.length;
    const [one, several] = [this.#at + 1, this.#answers.length];
    this.count.textContent = several === 1 ? "1 answer here" : `${one || "–"} of ${several} answers here`;
    fill(
      this.steps,
      several > 1 && signButton("↑", "Previous answer (p)", () => this.#step(-1)),
      this.count,
      several > 1 && signButton("↓", "Next answer (n)", () => this.#step(1)),
    );
  }

  /** @param {"pages" | "text"} show */
  #open(show) {
    const found = /** @type {Found} */ (this.#found);
    const answers = (/** @type {number} */ sentence) => this.#answers.find((answer) => answer.sentence === sentence);
    const marked = (/** @type {number} */ sentence) => answers(sentence) !== undefined;
    const headingTag = this.isBeside ? /** @type {const} */ ("h3") : /** @type {const} */ ("h2");
    this.#text?.end();
    this.#pages?.end();
    this.#text = this.#pages = null;
    if (show === "pages" && this.#isPdf) {
      const name = shortPath(found);
      this.#pages = new PagePane(this.#asked, { name, marked, failed: (problem) => this.#withoutPages(problem), turned: () => {} });
      fill(this.body, this.#pages.node);
      fill(this.where);
    } else {
      this.#text = new TextPane(this.#asked, found, { headingTag, answers, changed: () => this.#changed() });
      this.#text.node.addEventListener("scroll", () => this.#scrolled(), { passive: true });
      fill(this.body, this.#text.node);
      this.#text.start();
    }
    if (this.#switch) this.#switch.textContent = this.#pages ? "Text" : "Pages";
    void this.#goTo(this.#answers[this.#at] ?? null);
  }

  /** Bring an answer into view; where there is none, what the address says, or the beginning. @param {Answer | null} answer @param {{focus?: boolean}} [how] */
  async #goTo(answer, how = {}) {
    const found = this.#found;
    if (!found) return;
    if (this.#pages) return this.#pages.show(answer?.page ?? found.target?.page ?? this.#asked.page ?? 1, answer?.sentence ?? null);
    const passage = answer?.passage ?? (found.found === null ? null : found.first + found.found);
    if (passage !== null) await this.#text?.show(passage, answer?.sentence ?? null, how);
    this.#scrolled();
  }

  #scrolled() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      const top = this.#text?.topPassage;
      if (top) fill(this.where, top.getAttribute("data-where") ?? "");
    });
  }

  // What the user does

  /** @param {number} step */
  #step(step) {
    const count = this.#answers.length;
    if (!count) return false;
    this.#at = this.#at < 0 ? (step > 0 ? 0 : count - 1) : (this.#at + step + count) % count;
    this.#drawSteps();
    const { rank } = this.#answers[this.#at];
    say(`Answer ${this.#at + 1} of ${count}${rank ? `, number ${rank} of all` : ""}`);
    void this.#goTo(this.#answers[this.#at], { focus: true });
    return true;
  }

  #toggle() {
    if (!this.#isPdf || !this.#found) return false;
    this.#open(this.#pages ? "text" : "pages");
    return true;
  }

  /** @param {number} step @param {KeyboardEvent} event */
  #turn(step, event) {
    if (!this.#pages || (event.key.startsWith("Arrow") && this.#pages.isWide)) return false;
    return this.#pages.turn(step);
  }

  /** @param {number} step */
  #zoom(step) {
    this.#pages?.zoom(step);
    return this.#pages !== null;
  }

  // What may happen

  /** @param {unknown} problem */
  #withoutPages(problem) {
    this.#isPdf = false;
    this.#switch?.remove();
    const why = problem instanceof Error ? problem.message : String(problem);
    this.above.append(element("p", { class: "notice small" }, `The pages cannot be shown: ${why}. This is the indexed text.`));
    this.#open("text");
  }

  #changed() {
    this.#text?.end();
    const again = () => {
      this.#reset();
      void this.#load(this.#ending.signal);
    };
    fill(this.above, element("p", { class: "notice small" }, "The document has been reindexed. ", element("button", { type: "button", class: "button", on: { click: again } }, "Show the current text")));
  }
}

/** What has to be said of a document before its text. @param {Found} found @param {Asked} asked @param {boolean} hasTarget */
function notes(found, asked, hasTarget) {
  const isLost = asked.sentence !== null && !hasTarget;
  return [
    found.stale && element("p", { class: "notice small stale" }, `The file ${found.deleted ? "was deleted" : "has changed"} since it was indexed. This is the indexed text; run semsearch index to update it.`),
    isLost && element("p", { class: "notice small" }, "The sentence is no longer in the index: the document has been reindexed."),
  ];
}

/** @param {Found} found */
function copyPath(found) {
  const path = absolutePath(found);
  return path ? copyButton("Copy path", path, path, { class: "button quiet", title: path }) : null;
}

/** The path with which the file opens anywhere on the server's machine; none for a text that is in no file. @param {Found} found */
function absolutePath({ path, root, document: below }) {
  if (!root) return "";
  return root.endsWith(path) ? root : `${root.replace(/\/$/, "")}/${below}`;
}
