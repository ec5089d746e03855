// @ts-check
/** What there is to filter by, with counts, of one index or of several together. */

import { ApiProblem, get } from "../api.js";

/** @typedef {{value: string, count: number, filter: string}} FacetValue */
/** A choice among values of one key. `path` leads to the values, from the top. @typedef {{key: string, title: string, own: string[], path: FacetValue[], values: FacetValue[], more: number}} FacetGroup */
/** @typedef {{documents: number, groups: FacetGroup[]}} FacetGroups */

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

/** @param {any} facets as the server has them @returns {FacetGroups} */
function groupsOf({ documents, folders, formats, dates, metadata }) {
  const groups = [
    { key: "path", title: "Folder", own: folders.own, path: folders.path, values: folders.values, more: folders.more },
    { ...formats, title: "Format", path: [] },
    ...dates.map(dateGroup),
    ...metadata.map((/** @type {any} */ facet) => ({ ...facet, title: facet.key, path: [] })),
  ];
  return { documents, groups };
}

/** Years, or below the chosen year its months. @param {any} facet @returns {FacetGroup} */
function dateGroup({ key, own, years, more, year, months }) {
  const title = key === "modified" ? "Changed" : key;
  const chosen = years.filter((/** @type {FacetValue} */ each) => each.value === year);
  if (chosen.length) return { key, title, own, path: chosen, values: months, more: 0 };
  return { key, title, own, path: [], values: years, more };
}

/** The groups of several indexes as one: a value that several have counts for all of them. @param {FacetGroups[]} all @returns {FacetGroups} */
function merged(all) {
  if (all.length === 1) return all[0];
  /** @type {Map<string, FacetGroup>} */
  const byKey = new Map();
  for (const group of all.flatMap(({ groups }) => groups)) byKey.set(group.key, joined(byKey.get(group.key), group));
  return { documents: sum(all.map(({ documents }) => documents)), groups: [...byKey.values()] };
}

/** @param {FacetGroup | undefined} one @param {FacetGroup} other @returns {FacetGroup} */
function joined(one, other) {
  if (!one) return other;
  const own = [...new Set([...one.own, ...other.own])];
  const values = added(one.values, other.values).sort((first, second) => second.count - first.count);
  return { ...one, own, path: added(one.path, other.path), values, more: Math.max(one.more, other.more) };
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
export function choose(filters, group, value) {
  const ofGroup = new Set([...group.own, ...[...group.path, ...group.values].map((each) => each.filter)]);
  const others = filters.filter((filter) => !ofGroup.has(filter));
  return group.own.includes(value.filter) ? others : [...others, value.filter];
}
