// @ts-check
/** What is searched for, and where: the state of the search view, which its address says. */

/** @typedef {"hybrid" | "dense" | "lexical"} Mode */
/**
 * `hit` is a passage that is looked at, as `index/id`; "" for none.
 * @typedef {{query: string, indexes: string[], filters: string[], mode: Mode, count: number, hit: string}} SearchState
 */

/** The modes in the words of the page. @type {Record<Mode, string>} */
export const MODES = { hybrid: "Meaning and words", dense: "Meaning", lexical: "Words" };
export const FEW = 10; // passages at first
export const MOST = 100;

/** The state that an address says. @param {URLSearchParams} params @returns {SearchState} */
export function stateOf(params) {
  const mode = params.get("mode") ?? "";
  const count = Number(params.get("count")) || FEW;
  return {
    query: params.get("q") ?? "",
    indexes: params.getAll("index"),
    filters: params.getAll("filter"),
    mode: /** @type {Mode} */ (mode in MODES ? mode : "hybrid"),
    count: Math.min(Math.max(Math.round(count), 1), MOST),
    hit: params.get("hit") ?? "",
  };
}

/** The parameters of the address that says a state. @param {SearchState} state */
export function paramsOf({ query, indexes, filters, mode, count, hit }) {
  const params = new URLSearchParams();
  if (query) params.set("q", query);
  for (const index of indexes) params.append("index", index);
  for (const filter of filters) params.append("filter", filter);
  if (mode !== "hybrid") params.set("mode", mode);
  if (count !== FEW) params.set("count", String(count));
  if (hit) params.set("hit", hit);
  return params;
}
