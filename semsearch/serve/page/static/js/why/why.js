// @ts-check
/** Why a hit matched: what its score is made of, and which words met which. */

import { isAborted, post } from "../api.js";
import { fill } from "../dom.js";
import { indexOf } from "../hits/context.js";
import { problemNotice } from "../notices.js";

/** @type {import("../hits/hit_actions.js").HitAction} */
export const why = { name: "why", label: "Why", key: "w", says: "why it matched", fits: (hit) => Boolean(hit.origin), show };

/** @param {HTMLElement} panel @param {any} hit @param {import("../hits/context.js").HitContext} context */
function show(panel, hit, context) {
  const ending = new AbortController();
  void load(panel, hit, context, ending.signal);
  return () => ending.abort();
}

/** @param {HTMLElement} panel @param {any} hit @param {import("../hits/context.js").HitContext} context @param {AbortSignal} signal */
async function load(panel, hit, context, signal) {
  try {
    const asked = post("/v1/explain", { index: indexOf(hit, context), hit, own: true }, { signal });
    const [explanation, { explained }] = await Promise.all([asked, import("./explained.js")]);
    if (!signal.aborted) fill(panel, explained(explanation));
  } catch (problem) {
    if (!isAborted(problem)) fill(panel, problemNotice(problem));
  }
}
