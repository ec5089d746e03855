// @ts-check
/** A hit's passage: the best sentence marked, cut to what surrounds it, or whole with the sentences around it. */

import { element, fill } from "../dom.js";
import { earlier, excerptOf, later } from "./excerpt.js";
import { isIndented, markSentence, unwrapped } from "./marking.js";

/** The passage of a hit, and a button for more of it if there is more. @param {any} hit */
export function passageOf(hit) {
  const marked = markSentence(unwrapped(hit.passage), hit.sentence, hit.before.at(-1));
  const few = excerptOf(marked);
  const text = element("p", { class: isIndented(hit.passage) ? "hit-passage verbatim" : "hit-passage", dir: "auto" });
  const more = hasMore(hit, marked, few) ? moreButton(text, hit, marked, few) : null;
  fill(text, ...parts(tidied(few)));
  return { text, more };
}

/** @param {any} hit @param {import("./marking.js").Marked} marked @param {import("./marking.js").Marked} few */
function hasMore(hit, marked, few) {
  const isCut = few.before !== marked.before || few.sentence !== marked.sentence || few.after !== marked.after;
  return isCut || earlier(hit.before, marked.before).length > 0 || later(hit.after, marked.after).length > 0;
}

/** @param {HTMLElement} text @param {any} hit @param {import("./marking.js").Marked} marked @param {import("./marking.js").Marked} few */
function moreButton(text, hit, marked, few) {
  const button = element("button", { type: "button", class: "button quiet act-more", "aria-expanded": "false" }, "More");
  button.addEventListener("click", () => {
    const opens = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(opens));
    button.textContent = opens ? "Less" : "More";
    fill(text, ...(opens ? whole(hit, marked) : parts(tidied(few))));
  });
  return button;
}

/** @param {any} hit @param {import("./marking.js").Marked} marked */
function whole(hit, marked) {
  return [
    around(earlier(hit.before, marked.before)),
    ...parts(marked),
    around(later(hit.after, marked.after)),
  ];
}

/** Sentences of the document that are not of the passage. @param {string[]} sentences */
function around(sentences) {
  return sentences.length ? element("span", { class: "soft" }, ` ${unwrapped(sentences.join(" "))} `) : null;
}

/** @param {import("./marking.js").Marked} marked */
function parts({ before, sentence, after }) {
  return [before, sentence ? element("mark", {}, sentence) : null, after];
}

/** An excerpt without blank lines, which take room. @param {import("./marking.js").Marked} few */
function tidied({ before, sentence, after }) {
  return { before: before.replace(/\n\s*\n/g, "\n"), sentence, after: after.replace(/\n\s*\n/g, "\n") };
}
