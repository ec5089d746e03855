// @ts-check
/** Of several questions in a row only the last one's answer counts: those before it are ended and never shown. */

import { isAborted } from "../api.js";

const LONGEST = 250; // milliseconds that a question waits for the next letter, where answers are slow

/**
 * @template Question, Answer
 */
export class Latest {
  #ending = new AbortController();
  #took = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * @param {(question: Question, signal: AbortSignal) => Promise<Answer>} ask
   * @param {(question: Question, answer: Answer) => void} show
   * @param {(question: Question, problem: unknown) => void} failed
   */
  constructor(ask, show, failed) {
    this.ask = ask;
    this.show = show;
    this.failed = failed;
  }

  /** Ask at once, unless answers are slow: then after as long as the last one took. @param {Question} question */
  soon(question) {
    this.end();
    if (this.#took < 50) void this.#run(question, this.#ending.signal);
    else this.#timer = setTimeout(() => void this.#run(question, this.#ending.signal), Math.min(this.#took, LONGEST));
  }

  /** Ask at once. @param {Question} question */
  now(question) {
    this.end();
    return this.#run(question, this.#ending.signal);
  }

  /** Have what was asked not be answered any more. */
  end() {
    clearTimeout(this.#timer);
    this.#ending.abort();
    this.#ending = new AbortController();
  }

  /** @param {Question} question @param {AbortSignal} signal */
  async #run(question, signal) {
    const began = performance.now();
    try {
      const answer = await this.ask(question, signal);
      if (signal.aborted) return;
      this.#took = performance.now() - began;
      this.show(question, answer);
    } catch (problem) {
      if (!signal.aborted && !isAborted(problem)) this.failed(question, problem);
    }
  }
}
