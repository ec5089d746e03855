/** The filters: a panel of indexes, folders, formats, dates and metadata with counts, and the filters that hold as chips. */

import { ApiProblem, get } from "./api.js";
import { element, fill } from "./dom.js";

/** @import { Child } from "./dom.js" */

/**
 * @typedef {object} PanelUser
 * @property {(filters: string[]) => void} filter filters were chosen
 * @property {(index: string) => void} toggle an index was chosen, or no longer
 * @property {() => void} more more values of each key are wanted
 */
/** An index that can be chosen. @typedef {{name: string, documents: number, isChosen: boolean}} IndexChoice */

const FEW_KEYS = 4; // of metadata that are shown at once
const OWN_KEYS = ["path", "format", "modified"]; // that every index has

/** The panel: what there is to filter by, each value with its count. */
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

  /** @param {string} key @param {string} title @param {Child[]} entries @param {boolean} [isOpen] */
  #section(key, title, entries, isOpen = true) {
    return this.#details(key, title, isOpen, element("ul", {}, entries));
  }

  /** @param {string} key @param {string} title @param {boolean} isOpen @param {Child} content */
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

// The panel on a narrow screen

/** The panel of the side in a dialog, while it is open. */
export class FilterDrawer {
  /** @param {HTMLElement} side where the panel is otherwise @param {HTMLElement} panel */
  constructor(side, panel) {
    this.side = side;
    this.panel = panel;
    this.body = element("div");
    this.dialog = element(
      "dialog",
      { class: "drawer", "aria-label": "Filters", on: { close: () => this.side.append(this.panel), click: (event) => this.#outside(event) } },
      this.body,
      element("form", { method: "dialog" }, element("button", { class: "button main" }, "Show the passages")),
    );
  }

  open() {
    this.body.append(this.panel);
    this.dialog.showModal();
  }

  /** @param {Event} event */
  #outside(event) {
    if (event.target === this.dialog) this.dialog.close();
  }
}

// The filters that hold now

/** @param {string[]} filters @param {(left: string[]) => void} change */
export function chips(filters, change) {
  if (!filters.length) return [];
  const without = (/** @type {string} */ filter) => change(filters.filter((each) => each !== filter));
  const clear = element("button", { type: "button", class: "button quiet", on: { click: () => change([]) } }, "Remove all");
  return [...filters.map((filter) => chip(filter, () => without(filter))), filters.length > 1 ? clear : null];
}

/** @param {string} filter @param {() => void} remove */
function chip(filter, remove) {
  return element(
    "button",
    { type: "button", class: "chip", "aria-label": `Remove the filter ${filter}`, on: { click: remove } },
    element("bdi", {}, filter),
    element("span", { "aria-hidden": "true" }, "×"),
  );
}

// What there is to filter by

/** @typedef {{value: string, count: number, filter: string}} FacetValue */
/** A choice among values of one key. `path` leads to the values, from the top. @typedef {{key: string, title: string, own: string[], path: FacetValue[], values: FacetValue[], more: number}} FacetGroup */
/** @typedef {{documents: number, groups: FacetGroup[]}} FacetGroups */

// What /v1/facets answers; semsearch/results/documents.py says what each is
/** @typedef {{key: string, own: string[], values: FacetValue[], more: number}} Facet */
/** @typedef {{own: string[], path: FacetValue[], values: FacetValue[], more: number}} FolderFacet */
/** @typedef {{key: string, own: string[], years: FacetValue[], more: number, year: string | null, months: FacetValue[]}} DateFacet */
/** @typedef {{documents: number, folders: FolderFacet, formats: Facet, dates: DateFacet[], metadata: Facet[]}} Facets */

/**
 * The facets of these indexes under these filters; null where the server has none.
 * @param {string[]} indexes @param {string[]} filters @param {number} values of each key at most @param {AbortSignal} signal
 * @returns {Promise<FacetGroups | null>}
 */
export async function facetsOf(indexes, filters, values, signal) {
  const asked = indexes.map((index) => get("/v1/facets", { index, filters, values }, { signal }));
  try {
    return merged((await Promise.all(asked)).map(groupsOf));
  } catch (problem) {
    if (problem instanceof ApiProblem && problem.status === 404) return null;
    throw problem;
  }
}

/** @param {Facets} facets @returns {FacetGroups} */
function groupsOf({ documents, folders, formats, dates, metadata }) {
  const groups = [
    { key: "path", title: "Folder", own: folders.own, path: folders.path.map(named), values: distinct(folders.values.map(named)), more: folders.more },
    { ...formats, title: "Format", path: [] },
    ...dates.map(dateGroup),
    ...metadata.map((facet) => ({ ...facet, title: facet.key, path: [] })),
  ];
  return { documents, groups };
}

/** A folder by its own name, as all are: of a root there is the whole path. @param {FacetValue} folder @returns {FacetValue} */
function named(folder) {
  return { ...folder, value: folder.value.split("/").at(-1) || folder.value };
}

/** Years, or below the chosen year its months. @param {DateFacet} facet @returns {FacetGroup} */
function dateGroup({ key, own, years, more, year, months }) {
  const title = key === "modified" ? "Modified" : key;
  const chosen = years.filter((each) => each.value === year);
  if (chosen.length) return { key, title, own, path: chosen, values: months, more: 0 };
  return { key, title, own, path: [], values: years, more };
}

/** The groups of several indexes as one: a value that several have counts for all of them. @param {FacetGroups[]} all @returns {FacetGroups} */
function merged(all) {
  if (all.length === 1) return all[0];
  /** @type {Map<string, FacetGroup>} */
  const byKey = new Map();
  const groups = all.flatMap((one) => one.groups);
  const isInFolder = groups.some(({ path }) => path.length > 0); // a folder is of one index: those of others are elsewhere
  const shown = groups.filter(({ key, path }) => !isInFolder || key !== "path" || path.length > 0);
  for (const group of shown) byKey.set(group.key, joined(byKey.get(group.key), group));
  return { documents: sum(all.map(({ documents }) => documents)), groups: [...byKey.values()] };
}

/** @param {FacetGroup | undefined} one @param {FacetGroup} other @returns {FacetGroup} */
function joined(one, other) {
  if (!one) return other;
  const own = [...new Set([...one.own, ...other.own])];
  const values = distinct(added(one.values, other.values)).sort((first, second) => second.count - first.count);
  return { ...one, own, path: added(one.path, other.path), values, more: Math.max(one.more, other.more) };
}

/** Values with their filters for names where two have the same name, such as folders of two roots. @param {FacetValue[]} values */
function distinct(values) {
  const isAlone = (/** @type {FacetValue} */ { value }, /** @type {FacetValue[]} */ all) => all.filter((each) => each.value === value).length === 1;
  return values.map((each) => (isAlone(each, values) ? each : { ...each, value: each.filter }));
}

/** @param {FacetValue[]} one @param {FacetValue[]} other @returns {FacetValue[]} */
function added(one, other) {
  const byFilter = new Map([...one, ...other].map((value) => [value.filter, { ...value, count: 0 }]));
  for (const { filter, count } of [...one, ...other]) /** @type {FacetValue} */ (byFilter.get(filter)).count += count;
  return [...byFilter.values()];
}

/** @param {number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}

/**
 * The filters after a value of a group was chosen; or, if it was chosen before, after it no longer is.
 * @param {string[]} filters @param {FacetGroup} group @param {FacetValue} value
 */
function choose(filters, group, value) {
  const ofGroup = new Set([...group.own, ...[...group.path, ...group.values].map((each) => each.filter)]);
  const others = filters.filter((filter) => !ofGroup.has(filter));
  return group.own.includes(value.filter) ? others : [...others, value.filter];
}
