// @ts-check
/** The panel of filters: indexes, folders, types, dates, metadata, each value with its count. */

import { element, fill } from "../dom.js";
import { choose } from "./facets.js";

/** @typedef {import("./facets.js").FacetGroup} FacetGroup */
/** @typedef {import("./facets.js").FacetValue} FacetValue */
/**
 * @typedef {object} PanelUser
 * @property {(filters: string[]) => void} filter filters were chosen
 * @property {(index: string) => void} toggle an index was chosen, or no longer
 * @property {() => void} more more values of each key are wanted
 */
/** An index that can be chosen. @typedef {{name: string, documents: number, isChosen: boolean}} IndexChoice */

const FEW_KEYS = 4; // of metadata that are shown at once
const OWN_KEYS = ["path", "format", "modified"]; // that every index has

export class FilterPanel {
  /** @type {Map<string, boolean>} which groups the user opened or closed */
  #opened = new Map();

  /** @param {PanelUser} user */
  constructor(user) {
    this.user = user;
    this.groups = element("div", { class: "filter-groups" });
    this.node = element("div", { class: "filter-panel" }, this.groups, this.#ownCondition());
    /** @type {string[]} those that hold now, which may be later ones than those of the counts */
    this.filters = [];
  }

  /** Show what there is to choose. @param {IndexChoice[]} indexes @param {FacetGroup[]} groups */
  show(indexes, groups) {
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.choice;
    const { first, others } = divided(groups.filter(isUseful));
    fill(this.groups, this.#indexes(indexes), first.map((group) => this.#group(group)), others.length ? this.#others(others) : null);
    if (focused) this.#buttons().find((button) => button.dataset.choice === focused)?.focus();
  }

  /** @returns {HTMLElement[]} */
  #buttons() {
    return [...this.groups.querySelectorAll("button")];
  }

  /** @param {IndexChoice[]} indexes */
  #indexes(indexes) {
    if (indexes.length < 2) return null;
    const entry = (/** @type {IndexChoice} */ { name, documents, isChosen }) =>
      choice(`index ${name}`, name, documents, isChosen, () => this.user.toggle(name));
    return this.#section("index", "Index", indexes.map(entry));
  }

  /** @param {FacetGroup} group */
  #group(group) {
    const chosen = (/** @type {FacetValue} */ value) => group.own.includes(value.filter);
    const entry = (/** @type {FacetValue} */ value, deep = 0) =>
      choice(value.filter, value.value, value.count, chosen(value), () => this.user.filter(choose(this.filters, group, value)), deep);
    const more = group.more ? element("li", {}, this.#more(group.more)) : null;
    const entries = [...group.path.map((value, at) => entry(value, at)), ...group.values.map((value) => entry(value, group.path.length)), more];
    return this.#section(group.key, group.title, entries, isOpenAtFirst(group));
  }

  /** Keys that few ask for, behind one heading. @param {FacetGroup[]} groups */
  #others(groups) {
    return this.#details("others", groups.length === 1 ? "1 more key" : `${groups.length} more keys`, false, groups.map((group) => this.#group(group)));
  }

  /** @param {number} count */
  #more(count) {
    return element("button", { type: "button", class: "choice soft", on: { click: () => this.user.more() } }, `${count.toLocaleString()} more`);
  }

  /** @param {string} key @param {string} title @param {import("../dom.js").Child[]} entries @param {boolean} [isOpen] */
  #section(key, title, entries, isOpen = true) {
    return this.#details(key, title, isOpen, element("ul", {}, entries));
  }

  /** @param {string} key @param {string} title @param {boolean} isOpen @param {import("../dom.js").Child} content */
  #details(key, title, isOpen, content) {
    const toggled = (/** @type {Event} */ event) => this.#opened.set(key, /** @type {HTMLDetailsElement} */ (event.target).open);
    const open = this.#opened.get(key) ?? isOpen;
    return element("details", { open, on: { toggle: toggled } }, element("summary", {}, element("span", {}, title)), content);
  }

  /** A field for conditions that no value stands for, such as year>=2020. */
  #ownCondition() {
    const field = element("input", {
      class: "field small", id: "condition", placeholder: "year>=2020 or guide/*.md", autocomplete: "off", spellcheck: "false", maxlength: 200,
    });
    const add = (/** @type {Event} */ event) => {
      event.preventDefault();
      const condition = field.value.trim();
      if (condition && !this.filters.includes(condition)) this.user.filter([...this.filters, condition]);
      field.value = "";
    };
    return element("form", { class: "condition", on: { submit: add } }, element("label", { for: "condition", class: "small" }, "Add a condition"), field);
  }
}

/** A key of metadata is closed if it is in no use and has values without end. @param {FacetGroup} group */
function isOpenAtFirst({ key, own, more }) {
  return own.length > 0 || OWN_KEYS.includes(key) || more === 0;
}

/** The groups to show at once, and the rest: keys of metadata that are not in use. @param {FacetGroup[]} groups */
function divided(groups) {
  const isFirst = (/** @type {FacetGroup} */ { key, own }, /** @type {number} */ at) => own.length > 0 || OWN_KEYS.includes(key) || at < FEW_KEYS;
  return { first: groups.filter(isFirst), others: groups.filter((group, at) => !isFirst(group, at)) };
}

/** Whether a group has something to choose. @param {FacetGroup} group */
function isUseful({ own, path, values, more }) {
  return own.length > 0 || path.length + values.length + more > 1;
}

/** @param {string} name @param {string} value @param {number} count @param {boolean} isChosen @param {() => void} chose */
function choice(name, value, count, isChosen, chose, deep = 0) {
  const button = element(
    "button",
    { type: "button", class: "choice", "aria-pressed": String(isChosen), "data-choice": name, title: value, on: { click: chose } },
    element("span", { class: "choice-value", dir: "auto" }, value),
    element("span", { class: "choice-count" }, count.toLocaleString()),
  );
  button.style.paddingInlineStart = `${0.5 + deep * 0.75}rem`;
  return element("li", {}, button);
}
