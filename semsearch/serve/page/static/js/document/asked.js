// @ts-check
/** What the address of a document asks for: which document, where in it, and the question that led there. */

/**
 * @typedef {object} Asked
 * @property {string | null} index
 * @property {string} id path or id of the document
 * @property {number | null} sentence its id; passage, line and page say where it was, should it have gone
 * @property {number | null} passage
 * @property {number | null} line
 * @property {number | null} page
 * @property {string} query
 * @property {string} mode
 * @property {string[]} filters
 * @property {"pages" | "text" | null} show null: what suits the document
 */

/** @param {URLSearchParams} params @returns {Asked} */
export function askedBy(params) {
  const show = params.get("show");
  return {
    index: params.get("index"),
    id: params.get("id") ?? "",
    sentence: number(params, "sentence"),
    passage: number(params, "passage"),
    line: number(params, "line"),
    page: number(params, "page"),
    query: params.get("q") ?? "",
    mode: params.get("mode") ?? "hybrid",
    filters: params.getAll("filter"),
    show: show === "pages" || show === "text" ? show : null,
  };
}

/** The parameters of the search that led there; null if none did. @param {Asked} asked */
export function searchOf({ query, index, mode, filters }) {
  if (!query) return null;
  const params = new URLSearchParams({ q: query });
  if (index) params.set("index", index);
  for (const filter of filters) params.append("filter", filter);
  if (mode !== "hybrid") params.set("mode", mode);
  return params;
}

/** @param {URLSearchParams} params @param {string} name */
function number(params, name) {
  const value = Number(params.get(name) ?? NaN);
  return Number.isSafeInteger(value) && value >= 0 ? value : null;
}
