// @ts-check
/** What a view says in place of its content: that there is nothing, or that something went wrong. */

import { ApiProblem } from "./api.js";
import { element } from "./dom.js";

/** A few words with a heading. @param {string} heading @param {...import("./dom.js").Child} children */
export function notice(heading, ...children) {
  return element("section", { class: "notice" }, element("h2", {}, heading), ...children);
}

/** What went wrong, in words. `retry`, if given, is offered as a button. @param {unknown} problem @param {() => void} [retry] */
export function problemNotice(problem, retry) {
  const [heading, detail] = words(problem);
  const made = notice(heading, element("p", {}, detail), retry && retryButton(retry));
  made.classList.add("bad");
  made.setAttribute("role", "alert");
  return made;
}

/** @param {unknown} problem @returns {[string, string]} */
function words(problem) {
  if (problem instanceof ApiProblem) return [problem.title || "That did not work", problem.message];
  return ["The page has failed at this", problem instanceof Error ? problem.message : String(problem)];
}

/** @param {() => void} retry */
function retryButton(retry) {
  return element("p", {}, element("button", { type: "button", class: "button", on: { click: retry } }, "Try again"));
}
