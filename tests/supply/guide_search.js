// Searches the guide in the page, over the file that guide_search.py writes. No server, no library.
"use strict";

/** Sums, scores and ranks as the engine does: meaning and words, support by the document, feedback. */
class GuideSearch {
  /** @param {ArrayBuffer} file */
  constructor(file) {
    const length = new DataView(file).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 4, length)));
    this.stop = new Set(header.stop);
    this.ids = new Map(header.words.map((word, id) => [word, id]));
    this.terms = header.terms;
    const [scales, topicScales] = header.scales;
    const all = new Int8Array(file, 4 + length);
    this.general = { d: header.dimension, scales, rows: all.subarray(0, scales.length * header.dimension) };
    this.topics = { d: header.topics, scales: topicScales, rows: all.subarray(this.general.rows.length) };
    this.passages = header.passages.map(([path, title, headings, anchor, sentences]) =>
      this._passage({ path, title, headings, anchor, sentences }));
    this._countWords();
  }

  _passage(one) {
    const body = one.sentences.map(tokens), above = tokens(one.headings.join(" "));
    const title = tokens(one.title), heads = one.headings[0] === one.title ? above : [...title, ...above];
    const text = body.flat();
    one.counts = new Map();
    for (const [words, times] of [[heads, 2], [text, 1]])
      for (const word of words) {
        const term = this.terms[this.ids.get(word)];
        if (term !== undefined) one.counts.set(term, (one.counts.get(term) || 0) + times);
      }
    one.length = 2 * heads.length + text.length;
    one.vector = this._sum([...above, ...text]);
    one.titleVector = this._sum(title);
    one.sentenceVectors = body.map((words) => this._sum(words));
    one.topicVector = this._topics(one.counts);
    return one;
  }

  /** BM25 sees a passage with half of the words of its neighbours; how many passages have a term, without. */
  _countWords() {
    this.having = new Map();
    for (const one of this.passages)
      for (const term of one.counts.keys()) this.having.set(term, (this.having.get(term) || 0) + 1);
    let whole = 0;
    this.passages.forEach((one, at) => {
      const beside = [this.passages[at - 1], this.passages[at + 1]].filter((each) => each && each.path === one.path);
      one.beside = beside;
      one.wide = one.length + beside.reduce((sum, each) => sum + each.length / 2, 0);
      whole += one.wide;
    });
    this.mean = whole / this.passages.length;
  }

  _sum(words) {
    const result = new Float32Array(this.general.d);
    for (const word of words) if (this.ids.has(word)) add(result, this.general, this.ids.get(word), 1);
    return toUnit(result);
  }

  _topics(counts) {
    const result = new Float32Array(this.topics.d);
    for (const [term, times] of counts) add(result, this.topics, term, 1 + Math.log(times));
    return toUnit(result);
  }

  /** The best passages: [{passage, score, sentence}], best first. */
  search(question, k = 10) {
    const asked = tokens(question), named = asked.filter((word) => !this.stop.has(word));
    const words = named.length ? named : asked, counts = new Map();
    for (const word of words) {
      const term = this.terms[this.ids.get(word)] ?? `unknown ${word}`;
      counts.set(term, (counts.get(term) || 0) + 1);
    }
    const vector = this._sum(asked);
    const topic = this._topics([...counts].filter(([term]) => typeof term === "number"));
    const found = this.passages.map((passage) => ({ passage, ...this._score(passage, vector, topic, counts) }));
    const bestWords = Math.max(1e-9, ...found.map((one) => one.lexical));
    for (const one of found) one.score = 0.8 * (0.7 * one.dense + 0.3 * (one.lexical / bestWords));
    this._support(found);
    const first = found.reduce((best, one) => (one.score > best.score ? one : best));
    for (const one of found) one.score += 0.2 * alike(one.passage, first.passage);
    return found.sort((a, b) => b.score - a.score).slice(0, k);
  }

  _score(passage, vector, topic, counts) {
    const cosines = passage.sentenceVectors.map((each) => dot(each, vector));
    const best = cosines.indexOf(Math.max(...cosines));
    const parts = [[4, topic, passage.topicVector], [3, vector, passage.vector], [1, vector, passage.titleVector]];
    let dense = 3 * (cosines[best] || 0), weight = 3;
    for (const [share, a, b] of parts) if (dot(a, a) && dot(b, b)) { dense += share * dot(a, b); weight += share; }
    let lexical = 0;
    for (const [term, times] of counts) {
      const having = this.having.get(term) || 0;
      const f = (passage.counts.get(term) || 0) +
        passage.beside.reduce((sum, each) => sum + (each.counts.get(term) || 0) / 2, 0);
      const idf = Math.log(1 + (this.passages.length - having + 0.5) / (having + 0.5));
      if (f && having) lexical += (times * idf * f * 2.2) / (f + 1.2 * (0.25 + (0.75 * passage.wide) / this.mean));
    }
    return { dense: dense / weight, lexical, sentence: passage.sentences[best] || passage.sentences[0] || "" };
  }

  _support(found) {
    const best = Math.max(...found.map((one) => one.score));
    const share = Math.min(1, Math.max(0, (1 - best) / 0.4));
    const ranked = new Map();
    for (const one of found) ranked.set(one.passage.path, [...(ranked.get(one.passage.path) || []), one.score]);
    const points = new Map();
    for (const [path, scores] of ranked) {
      const [, second = 0, third = 0] = scores.sort((a, b) => b - a);
      const others = (Math.max(0, second - best / 2) + Math.max(0, third - best / 2)) / 2;
      const length = Math.min(0.5, Math.max(0, Math.log10(scores.length / 40)));
      points.set(path, share * (0.5 * others - 0.08 * length));
    }
    for (const one of found) one.score += points.get(one.passage.path);
  }
}

/** The words of a text, without endings such as 's, as semsearch.text.tokens has them. */
const tokens = (text) =>
  text.toLowerCase().normalize("NFC").replaceAll("’", "'").replace(/(?<=[\p{L}\p{N}])'[a-z]{1,2}(?![\p{L}\p{N}])/gu, "")
    .match(/[\p{L}\p{M}\p{N}]+/gu) || [];

function add(to, table, row, times) {
  const scale = table.scales[row] * times, first = row * table.d;
  for (let i = 0; i < table.d; i++) to[i] += scale * table.rows[first + i];
}

function toUnit(vector) {
  const length = Math.sqrt(dot(vector, vector));
  if (length > 1e-9) for (let i = 0; i < vector.length; i++) vector[i] /= length;
  return vector;
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

const alike = (a, b) => (3 * dot(a.vector, b.vector) + 4 * dot(a.topicVector, b.topicVector)) / 7;

// -- The page ---------------------------------------------------------------------------------------------------------

const OWN = document.currentScript ? document.currentScript.src : "";
const STYLE = `
.guide-search-open { margin-inline-start: auto; padding: .3rem .8rem; border-radius: .4rem; font-size: .7rem; cursor: pointer;
  border: 1px solid var(--md-default-fg-color--light, #767676); color: var(--md-default-fg-color, #222); }
.guide-search { width: min(44rem, 94vw); height: min(40rem, 86vh); padding: 1rem; border: 0; border-radius: .6rem;
  color: var(--md-default-fg-color, #222); background: var(--md-default-bg-color, #fff); font-size: .7rem;
  overflow-wrap: anywhere; outline: 1px solid var(--md-default-fg-color--lighter, #999); }
.guide-search::backdrop { background: #0008; }
.guide-search input { width: 100%; padding: .5rem .7rem; font: inherit; font-size: .9rem; color: inherit; background: inherit;
  border: 1px solid currentColor; border-radius: .4rem; box-sizing: border-box; }
.guide-search p { margin: .5rem 0; opacity: .8; }
.guide-search ol { list-style: none; margin: 0; padding: 0; }
.guide-search li { margin: .8rem 0; }
.guide-search a { font-weight: bold; color: var(--md-typeset-a-color, #3949ab); }`;

/** The address of a passage: its page, at its heading. */
function addressOf(passage) {
  const page = passage.path.replace(/README\.md$/, "index.html").replace(/\.md$/, ".html");
  return new URL(passage.anchor ? `${page}#${passage.anchor}` : page, OWN).href;
}

function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function hitOf({ passage, sentence }) {
  const above = passage.headings[0] === passage.title ? passage.headings : [passage.title, ...passage.headings];
  const link = make("a", { href: addressOf(passage), textContent: above.join(" › ") });
  return make("li", {}, link, make("div", { textContent: sentence }));
}

/** A button that opens the search, and the search: the file is fetched when it is first opened. */
function install(header) {
  const input = make("input", { type: "search", ariaLabel: "Search the guide", placeholder: "Ask the guide", autofocus: true });
  const said = make("p", { ariaLive: "polite", textContent: "Searches by meaning, in this page: nothing is sent." });
  const list = make("ol", {});
  const dialog = make("dialog", { className: "guide-search", ariaLabel: "Search" }, input, said, list);
  let loaded;
  const load = () => (loaded ||= fetch(new URL("search.bin", OWN))
    .then((answer) => (answer.ok ? answer.arrayBuffer() : Promise.reject(new Error(`status ${answer.status}`))))
    .then((file) => new GuideSearch(file)));
  const answer = () => load().then((search) => {
    const hits = tokens(input.value).length ? search.search(input.value) : [];
    said.textContent = hits.length ? `${hits.length} passages` : "";
    list.replaceChildren(...hits.map(hitOf));
  }, (error) => { loaded = undefined; said.textContent = `The index cannot be loaded: ${error.message}`; });
  const open = () => { if (!dialog.open) { dialog.showModal(); load().catch(() => {}); } };
  input.addEventListener("input", answer);
  list.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.addEventListener("keydown", (event) => {
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); open(); }
  });
  const button = make("button", { type: "button", className: "guide-search-open", textContent: "Search (Ctrl K)" });
  button.addEventListener("click", open);
  header.append(button);
  document.body.append(make("style", { textContent: STYLE }), dialog);
}

if (OWN)
  document.addEventListener("DOMContentLoaded", () => install(document.querySelector(".md-header__inner") || document.body));
