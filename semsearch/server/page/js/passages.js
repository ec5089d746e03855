/**
 * A passage in words: what it is called, where it is, the address of its source, and its text, with the best sentence
 * marked, cut to what surrounds it or whole.
 */

import { element, fill } from "./dom.js";
import { addressOf } from "./router.js";

/** @typedef {"hybrid" | "dense" | "lexical" | "exact"} Mode */
/** @typedef {{path: string, root: string, document: string, format: string, line: number, page: number | null, place: string | null}} Placed */
/**
 * A passage as the server tells of it: a hit, or one of /v1/map/passages. `index` is its own where several were asked.
 * @typedef {Placed & {title: string, headings: string[], passage_id: number, sentence_id?: number, index?: string}} Passage
 */
/**
 * A hit as the server tells of it (semsearch/results/hits.py has each field).
 * @typedef {object} HitFields
 * @property {number} sentence_id
 * @property {number} rank
 * @property {number} score
 * @property {number | null} dense
 * @property {number | null} lexical
 * @property {number | null} relevance
 * @property {number} [occurrences] of the text, in mode "exact"
 * @property {string} sentence
 * @property {[number, number]} [answer_span] of the date or number in the sentence that answers, in code points
 * @property {string} passage
 * @property {string[]} before
 * @property {string[]} after
 * @property {Placed[]} duplicates
 * @property {boolean} stale
 * @property {boolean} [deleted]
 * @property {string} [language]
 * @property {unknown} [origin]
 */
/** @typedef {Passage & HitFields} Hit */
/** A passage of /v1/map/passages. @typedef {Passage & {text: string}} MapPassage */

const LONGEST = 160; // characters of a title

/**
 * What was asked, and of which indexes. `open`, if it is given, opens a hit's source beside the hits.
 * @typedef {object} HitContext
 * @property {string} query
 * @property {Mode} mode
 * @property {string[]} filters
 * @property {string} index that answered; "" where several did: a hit then names its own
 * @property {(hit: Hit) => boolean} [open] whether it did
 * @property {string} [instead] what was searched for instead of misspelt words
 */

/** The name of a hit's index. @param {Passage} hit @param {HitContext} context @returns {string} */
export function indexOf(hit, { index }) {
  return hit.index ?? index;
}

/**
 * What a hit's document is called: by its title, or if that is only the name of its file, by its first heading.
 * @param {Passage} hit
 */
export function titleOf(hit) {
  return beginningOf(isNamedByFile(hit) ? hit.headings[0] : hit.title, LONGEST) || shortPath(hit);
}

/** The headings that lead to a hit, without what `titleOf` says. @param {Passage} hit */
export function trailOf(hit) {
  const inner = hit.headings[0] === hit.title || isNamedByFile(hit) ? hit.headings.slice(1) : hit.headings;
  return inner.map((heading) => beginningOf(heading, LONGEST)).join(" › ");
}

/** @param {Passage} hit */
function isNamedByFile({ title, document, headings }) {
  const name = document.split("/").at(-1) ?? "";
  return headings.length > 0 && (title === name || name.startsWith(`${title}.`));
}

/** What tells a hit from all others: its index and its passage. @param {Passage} hit @param {HitContext} context */
export function nameOf(hit, context) {
  return `${indexOf(hit, context)}/${hit.passage_id}`;
}

/** What the view of a source is told: the document, and the sentence to show in it. @param {Passage} hit @param {HitContext} context */
export function sourceParams(hit, context) {
  const { path, sentence_id, passage_id, line, page } = hit;
  const placed = { index: indexOf(hit, context), id: path, sentence: sentence_id, passage: passage_id, line, page, q: context.query };
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(placed)) if (value !== null && value !== undefined) params.set(name, String(value));
  for (const filter of context.filters) params.append("filter", filter);
  if (context.mode !== "hybrid") params.set("mode", context.mode);
  return params;
}

/** The address of a hit's source. @param {Passage} hit @param {HitContext} context */
export function sourceAddress(hit, context) {
  return addressOf("document", sourceParams(hit, context));
}

// Where a passage is, in the words that the terminal uses: `guide.md:10`, `report.pdf p. 3, top`

// as in semsearch/results/hits.py, with which a test compares it
const LINELESS = new Set(
  "pdf picture doc docx ppt pptx xlsx odt ods odp rtf epub fb2 mail msg archive notebook subtitles".split(" "),
);

/** Whether the files of a format have no lines of their own. @param {string} format */
export function isLineless(format) {
  return LINELESS.has(format);
}

/** Path and position in one. @param {Placed} placed @param {string} [path] */
export function locationOf(placed, path = placed.path) {
  return path + positionOf(placed);
}

/** What follows the path: `:10`, ` p. 3, top`, ` slide 3`. @param {Placed} placed */
export function positionOf({ format, line, page, place }) {
  if (!isLineless(format)) return `:${line}`;
  const words = [page === null ? "" : `p. ${page}`, place ?? ""].filter(Boolean).join(", ");
  return words && ` ${words}`;
}

/** A path as people know it: below the folder that is indexed, with that folder's name. @param {Pick<Placed, "path" | "root" | "document">} placed */
export function shortPath({ path, root, document }) {
  if (!root) return path; // the id of a text
  if (root === path) return path.split(/[\\/]/).at(-1) || path;
  return [root.split(/[\\/]/).filter(Boolean).at(-1), document].filter(Boolean).join("/");
}

// The text of a hit

/** The passage of a hit, and a button for more of it if there is more. @param {Hit} hit @param {HitContext} context */
export function passageOf(hit, { query, mode, instead = "" }) {
  const isAllCode = isSource(hit.format);
  const marked = markSentence(isAllCode ? hit.passage : unwrapped(hit.passage), hit.sentence, hit.before.at(-1));
  const few = excerptOf(marked, query);
  const kind = isAllCode ? "hit-passage verbatim mono" : isIndented(hit.passage) ? "hit-passage verbatim" : "hit-passage";
  const text = element("p", { class: kind, dir: "auto" });
  const style = { answer: answerOf(hit), asked: mode === "exact" ? new RegExp(`(${literal(query.trim()).replace(/\s+/g, "\\s+")})`, "gu") : askedWords(`${query} ${instead}`), code: codeLines(hit) };
  const more = hasMore(hit, marked, few) ? moreButton(text, hit, marked, few, style) : null;
  fill(text, ...parts(tidied(few), style));
  return { text, more };
}

/** How a passage is shown: its answer bold, words of the question set off, lines of code in their own font. @typedef {{answer: string, asked: RegExp | null, code: string[]}} Style */

/** @param {Hit} hit @param {Marked} marked @param {Marked} few */
function hasMore(hit, marked, few) {
  const isCut = few.before !== marked.before || few.sentence !== marked.sentence || few.after !== marked.after;
  return isCut || earlier(hit.before, marked.before).length > 0 || later(hit.after, marked.after).length > 0;
}

/** @param {HTMLElement} text @param {Hit} hit @param {Marked} marked @param {Marked} few @param {Style} style */
function moreButton(text, hit, marked, few, style) {
  const button = element("button", { type: "button", class: "button quiet act-more", "aria-expanded": "false" }, "More");
  button.addEventListener("click", () => {
    const opens = button.getAttribute("aria-expanded") === "false";
    button.setAttribute("aria-expanded", String(opens));
    button.textContent = opens ? "Less" : "More";
    fill(text, ...(opens ? whole(hit, marked, style) : parts(tidied(few), style)));
  });
  return button;
}

/** @param {Hit} hit @param {Marked} marked @param {Style} style */
function whole(hit, marked, style) {
  return [
    around(earlier(hit.before, marked.before)),
    ...parts(marked, style),
    around(later(hit.after, marked.after)),
  ];
}

/** Sentences of the document that are not of the passage. @param {string[]} sentences */
function around(sentences) {
  return sentences.length ? element("span", { class: "soft" }, ` ${unwrapped(sentences.join(" "))} `) : null;
}

/** @param {Marked} marked @param {Style} style @returns {(Node | string | null)[]} */
function parts({ before, sentence, after }, style) {
  const { answer } = style;
  const at = answer ? sentence.search(new RegExp(asWord(answer), "u")) : -1;
  const shown = at < 0 ? styled(sentence, style) : [...styled(sentence.slice(0, at), style), element("strong", {}, answer), ...styled(sentence.slice(at + answer.length), style)];
  return [...styled(before, style), sentence ? element("mark", {}, ...shown) : null, ...styled(after, style)];
}

/** A pattern of a text as a word of its own. @param {string} text */
function asWord(text) {
  return `(?<![\\p{L}\\p{N}])${literal(text)}(?![\\p{L}\\p{N}])`;
}

/** A pattern of a text itself. @param {string} text */
function literal(text) {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

/** Lines of code in their own font, words of the question set off. @param {string} text @param {Style} style @returns {(Node | string)[]} */
function styled(text, { asked, code }) {
  const isCode = (/** @type {string} */ text) => {
    const line = text.replace(/^… | …$/g, "").trim();
    return line !== "" && code.some((one) => one.includes(line));
  };
  const runs = text.split(/(?<=\n)/).reduce((/** @type {{code: boolean, text: string}[]} */ all, line) => {
    const last = all.at(-1);
    if (last && (last.code === isCode(line) || !line.trim())) last.text += line;
    else all.push({ code: isCode(line), text: line });
    return all;
  }, []);
  return runs.flatMap((run) => (run.code ? [element("code", { class: "code-lines" }, ...withAsked(run.text, asked))] : withAsked(run.text, asked)));
}

/** @param {string} text @param {RegExp | null} asked */
function withAsked(text, asked) {
  if (!asked) return [text];
  return text.split(asked).map((piece, at) => (at % 2 ? element("span", { class: "asked" }, piece) : piece));
}

const COMMON = new Set(
  "about also and any are been but can did does for from get had has have her his how into its let may more much nor not now off one our out own per she than that the their them there these they this too use was what when where which while who why will with would you your".split(" "),
);

/** A pattern of the words of a question that mean something, in other forms too. @param {string} query @returns {RegExp | null} */
function askedWords(query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const stems = words.filter((word) => !COMMON.has(word)).map((word) => word.replace(/(?<=.{4})(?:ing|ed|es|e|s)$/, ""));
  const forms = stems.map((stem) => (stem.length > 3 ? `${stem}\\p{L}{0,3}` : `${stem}s?`));
  return forms.length ? new RegExp(`(?<![\\p{L}\\p{N}])(${forms.join("|")})(?![\\p{L}\\p{N}])`, "giu") : null;
}

/** Whether a file is source code, all of which is shown as it is written. @param {string} format */
export function isSource(format) {
  return format === "code" || format === "python";
}

/** The lines of the paragraphs of a passage that look like code. @param {Hit} hit */
function codeLines({ format, passage }) {
  if (isSource(format)) return []; // all of it is shown so
  const paragraphs = passage.split(/\n[^\S\n]*\n/).filter(isCode);
  return paragraphs.flatMap((paragraph) => paragraph.split("\n")).map((line) => line.trim()).filter(Boolean);
}

/** The date or number in the sentence of a hit that answers; "" where none is sure. @param {Hit} hit */
function answerOf({ sentence, answer_span }) {
  return answer_span ? [...sentence].slice(...answer_span).join("") : "";
}

/** An excerpt without blank lines, which take room. @param {Marked} few */
function tidied({ before, sentence, after }) {
  const [first, middle, last] = [before, sentence, after].map((text) => text.replace(/\n\s*\n/g, "\n"));
  return { before: first, sentence: middle, after: last };
}

// What is shown at first: the sentence, and a little before and after

const BEFORE = 120; // characters
const SENTENCE = 700;
const AFTER = 180;
const SPARED = 60; // characters that are not worth leaving out
const LINES = 6; // of a record with many, such as a row of a wide table

/** A passage cut to its sentence and its surroundings, with an ellipsis where something is left out. @param {Marked} marked @param {string} query @returns {Marked} */
function excerptOf({ before, sentence, after }, query) {
  if (!sentence) return { before: beginningOf(before, BEFORE + SENTENCE), sentence, after };
  const shown = beginningOf(fewLines(sentence, query), SENTENCE);
  const isCut = shown !== sentence;
  return { before: isCut && shown.startsWith("…") ? "" : endOf(before, BEFORE), sentence: shown, after: isCut ? "" : beginningOf(after, AFTER) };
}

/** The lines of a text around the one with most words of the query, if there are many. @param {string} text @param {string} query */
function fewLines(text, query) {
  const lines = text.split("\n");
  if (lines.length <= LINES + 1) return text;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const shared = lines.map((line) => words.filter((word) => line.toLowerCase().includes(word.slice(0, Math.max(4, word.length - 2)))).length);
  const first = Math.max(0, Math.min(shared.indexOf(Math.max(...shared)) - 1, lines.length - LINES));
  return `${first ? "… " : ""}${lines.slice(first, first + LINES).join("\n")}${first + LINES < lines.length ? " …" : ""}`;
}

/** The beginning of a text that is too long, with an ellipsis. @param {string} text @param {number} room */
export function beginningOf(text, room) {
  if (text.length <= room + SPARED) return text;
  const cut = wholeCharacters(text.slice(0, room));
  const space = cut.search(/\s\S*$/);
  return `${(space > room / 2 ? cut.slice(0, space) : cut).replace(/[\s.,;:]+$/, "")} …`;
}

/** @param {string} text @param {number} room */
function endOf(text, room) {
  if (text.length <= room + SPARED) return text;
  const cut = text.slice(text.length - room).replace(/^[\udc00-\udfff]/, "");
  const space = cut.search(/\s/);
  return `… ${space >= 0 && space < room / 2 ? cut.slice(space + 1) : cut}`;
}

/** @param {string} text */
function wholeCharacters(text) {
  return text.replace(/[\ud800-\udbff]$/, "");
}

/** The sentences of `before` that come before the passage begins. @param {string[]} before @param {string} prefix of the passage, before the sentence */
function earlier(before, prefix) {
  let left = oneLine(prefix);
  let first = before.length;
  while (first > 0 && left.endsWith(oneLine(before[first - 1]))) {
    left = left.slice(0, left.length - oneLine(before[first - 1]).length).trimEnd();
    first--;
  }
  return left ? [] : before.slice(0, first);
}

/** The sentences of `after` that come after the passage ends. @param {string[]} after @param {string} suffix of the passage, after the sentence */
function later(after, suffix) {
  let left = oneLine(suffix);
  let first = 0;
  while (first < after.length && left.startsWith(oneLine(after[first]))) {
    left = left.slice(oneLine(after[first]).length).trimStart();
    first++;
  }
  return left ? [] : after.slice(first);
}

// Where the sentence is in its passage, which may hold it with other whitespace, and more than once

/** @typedef {{before: string, sentence: string, after: string}} Marked */

/**
 * A passage in three parts, the sentence in the middle; with the passage as `before` if the sentence is not in it.
 * Of several places it is the one that follows `preceding`, the sentence before it, if that is known.
 * @param {string} passage @param {string} sentence @param {string} [preceding] @returns {Marked}
 */
function markSentence(passage, sentence, preceding = "") {
  const places = placesOf(passage, sentence.trim().split(/\s+/).filter(Boolean));
  if (!places.length) return { before: passage, sentence: "", after: "" };
  const [start, end] = places.find(([first]) => endsWith(passage.slice(0, first), preceding)) ?? places[0];
  return { before: passage.slice(0, start), sentence: passage.slice(start, end), after: passage.slice(end) };
}

/** Where these words stand one after the other, whatever space is between them. @param {string} passage @param {string[]} words */
function placesOf(passage, words) {
  /** @type {[number, number][]} */
  const found = [];
  if (!words.length) return found;
  for (let first = passage.indexOf(words[0]); first >= 0; first = passage.indexOf(words[0], first + 1)) {
    const end = endOfWords(passage, first, words);
    if (end >= 0) found.push([first, end]);
  }
  return found;
}

/** @param {string} passage @param {number} at @param {string[]} words */
function endOfWords(passage, at, words) {
  for (const [number, word] of words.entries()) {
    if (number) at += /^\s*/.exec(passage.slice(at, at + 100))?.[0].length ?? 0;
    if (!passage.startsWith(word, at)) return -1;
    at += word.length;
  }
  return at;
}

/** @param {string} text @param {string} ending */
function endsWith(text, ending) {
  return ending !== "" && oneLine(text).endsWith(oneLine(ending));
}

/** A text with single spaces. @param {string} text */
export function oneLine(text) {
  return text.trim().replace(/\s+/gu, " ");
}

/**
 * A text whose lines were broken to a width, with spaces for those breaks: as long as before, so that places in it stay.
 * A paragraph of short or indented lines keeps them: it is a list, a poem, a table or code.
 * @param {string} text
 */
export function unwrapped(text) {
  return text
    .split(/(\n[^\S\n]*\n)/)
    .map((part) => (isBroken(part) ? part.replaceAll("\n", " ") : part))
    .join("");
}

const NARROWEST = 50, NARROW = 30; // characters of the lines that somebody broke to a width, on average and at least

/** @param {string} paragraph */
function isBroken(paragraph) {
  const lines = paragraph.split("\n").slice(0, -1);
  const isWide = lines.every((line) => line.length >= NARROW) && lines.join("").length >= NARROWEST * lines.length;
  return isWide && !isCode(paragraph) && !/\n[-*•|>#]/.test(paragraph);
}

const SYMBOLS = 0.1; // share of symbols above which lines are code, as in semsearch/cli/answer_formats.py

/** Whether a paragraph of several lines is code: indented, with many symbols, or with options of commands. @param {string} paragraph */
export function isCode(paragraph) {
  if (!paragraph.trim().includes("\n")) return false;
  const symbols = paragraph.match(/[{}()[\]<>=;$\\|&*_"`/^~+]/g)?.length ?? 0;
  const isCommand = /^(?:[$#] |[a-z][\w.-]* .*--?[a-z])/m.test(paragraph) && !/[.:;,!?]\s*$/.test(paragraph);
  return isIndented(paragraph) || symbols > SYMBOLS * paragraph.length || isCommand;
}

/** Whether the space at the beginnings of lines means something, as in code. @param {string} text */
export function isIndented(text) {
  return /\n(?: {2,}|\t)\S/.test(text);
}
