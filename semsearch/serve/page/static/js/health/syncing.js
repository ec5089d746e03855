// @ts-check
/** Bringing an index up to date from the page, with its progress; the server asks for its token. */

import { ApiProblem, follow, isAborted } from "../api.js";
import { element, fill, say } from "../dom.js";
import { problemNotice } from "../notices.js";
import { counted } from "./words.js";

const PHASES = { looking: "Looking at the files", reading: "Reading", embedding: "Embedding", writing: "Writing" };

export class Syncing {
  /** @param {string} index @param {AbortSignal} signal @param {() => void} done */
  constructor(index, signal, done) {
    this.index = index;
    this.signal = signal;
    this.done = done;
    this.button = element("button", { type: "button", class: "button", on: { click: () => void this.#run() } }, "Bring up to date now");
    this.told = element("div", { class: "sync-told" });
    this.node = element("div", { class: "syncing" }, this.button, this.told);
  }

  async #run() {
    this.button.disabled = true;
    const bar = element("progress", { "aria-label": `Progress of ${this.index}`, max: "1" });
    const phase = element("span", { class: "soft small" }, "Waiting");
    fill(this.told, bar, phase);
    try {
      await follow("/v1/sync", { index: this.index }, (name, data) => this.#event(name, data, bar, phase), { signal: this.signal });
    } catch (problem) {
      if (!isAborted(problem)) fill(this.told, problemNotice(problem));
    }
    this.button.disabled = false;
  }

  /** @param {string} name @param {any} data @param {HTMLProgressElement} bar @param {HTMLElement} phase */
  #event(name, data, bar, phase) {
    if (name === "progress") {
      const [done, all] = data.phase === "embedding" ? [data.sentences, data.total_sentences] : [data.files, data.total_files];
      if (all) bar.value = done / all;
      else bar.removeAttribute("value");
      phase.textContent = `${PHASES[/** @type {keyof PHASES} */ (data.phase)]}${all ? ` ${done.toLocaleString("en")} of ${all.toLocaleString("en")}` : ""}`;
    } else if (name === "report") {
      const sentence = told(data);
      fill(this.told, element("p", {}, sentence), data.warnings.map((/** @type {string} */ each) => element("p", { class: "small" }, each)));
      say(sentence);
      this.done();
    } else if (name === "problem") {
      fill(this.told, problemNotice(new ApiProblem(data.status ?? 500, data.title ?? "That did not work", data.detail ?? "")));
    }
  }
}

/** @param {any} report */
function told(report) {
  const parts = ["added", "changed", "moved", "removed"].filter((each) => report[each]).map((each) => `${report[each].toLocaleString("en")} ${each}`);
  return `${parts.join(", ") || "Nothing has changed"}; ${counted(report.unchanged, "document")} as before`;
}
