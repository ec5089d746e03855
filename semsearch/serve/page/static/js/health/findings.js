// @ts-check
/** What there is to say of an index: what needs something first, each with the command that mends it. */

import { element } from "../dom.js";
import { command } from "./command.js";

const LEVELS = { good: "Good", notice: "Note", warning: "To do" };

/** @param {{level: "good" | "notice" | "warning", says: string, command: string}[]} found */
export function findings(found) {
  return element("ul", { class: "findings" }, found.map(finding));
}

/** @param {{level: "good" | "notice" | "warning", says: string, command: string}} found */
function finding(found) {
  const level = element("span", { class: `level ${found.level}` }, LEVELS[found.level]);
  return element("li", { class: "finding" }, level, element("div", {}, element("p", {}, found.says), found.command && command(found.command)));
}
