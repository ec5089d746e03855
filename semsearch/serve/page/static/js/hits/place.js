// @ts-check
/** Where something is cited, in the words that the terminal uses: `guide.md:10`, `report.pdf p. 3, top`. */

const LINELESS = new Set(["pdf", "docx", "pptx", "xlsx", "odt", "epub", "mail"]); // as in semsearch/results/location.py

/** Whether the files of a format have no lines of their own. @param {string} format */
export function isLineless(format) {
  return LINELESS.has(format);
}

/** @typedef {{path: string, root: string, document: string, format: string, line: number, page: number | null, place: string | null}} Placed */

/** Path and position in one. @param {Placed} placed @param {string} [path] */
export function locationOf(placed, path = placed.path) {
  return path + positionOf(placed);
}

/** Whether people find a place in it by its line. @param {Placed} placed */
export function hasLines({ format }) {
  return !LINELESS.has(format);
}

/** What follows the path: `:10`, ` p. 3, top`, ` slide 3`. @param {Placed} placed */
export function positionOf({ format, line, page, place }) {
  if (!isLineless(format)) return `:${line}`;
  const words = [page === null ? "" : `p. ${page}`, place ?? ""].filter(Boolean).join(", ");
  return words && ` ${words}`;
}

/** A path as people know it: below the folder that is indexed, with that folder's name. @param {Placed} placed */
export function shortPath({ path, root, document }) {
  if (!root) return path; // the id of a text
  if (root === path) return path.split(/[\\/]/).at(-1) || path;
  return [root.split(/[\\/]/).filter(Boolean).at(-1), document].filter(Boolean).join("/");
}
