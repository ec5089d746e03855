// @ts-check
/** Making a map: what is asked of the server, and the progress meanwhile. */

import { get, isAborted, pause, post } from "../api.js";
import { element, fill, say } from "../dom.js";
import { notice } from "../notices.js";

const OFTEN = 0.4; // seconds between two looks at the progress
const SAYS = /** @type {Record<string, string>} */ ({
  reading: "Reading",
  comparing: "Comparing passages",
  arranging: "Arranging passages",
  naming: "Naming regions",
  writing: "Keeping the map",
});

/** Have the server make the map, and show how far it is. @param {HTMLElement} place @param {string} index @param {AbortSignal} signal */
export async function makeMap(place, index, signal) {
  const bar = element("progress", { "aria-label": "Progress", max: 1 });
  const words = element("p", { class: "small soft" }, "Waiting");
  fill(place, notice("Making the map", bar, words));
  say("Making the map");
  const ending = new AbortController();
  const following = follow(index, AbortSignal.any([signal, ending.signal]), (phase, share, says) => {
    if (share === null) bar.removeAttribute("value");
    else bar.value = share;
    words.textContent = says;
    say(SAYS[phase] ?? phase);
  });
  try {
    return await post("/v1/map", { index }, { signal });
  } finally {
    ending.abort();
    await following;
  }
}

/** @param {string} index @param {AbortSignal} signal @param {(phase: string, share: number | null, says: string) => void} show */
async function follow(index, signal, show) {
  try {
    for (;;) {
      await pause(OFTEN, signal);
      const { progress } = await get("/v1/map", { index }, { signal });
      if (!progress) continue;
      const share = progress.total ? progress.done / progress.total : null;
      show(progress.phase, share, `${SAYS[progress.phase] ?? progress.phase}${share === null ? "" : `: ${Math.floor(100 * share)} %`}`);
    }
  } catch (problem) {
    if (!isAborted(problem)) throw problem;
  }
}

/** What is said where there is no map yet. @param {number} passages @param {() => void} make */
export function noMapYet(passages, make) {
  const seconds = Math.max(1, Math.round(passages / 1000));
  const says = seconds < 60 ? `about ${seconds} seconds` : `about ${Math.round(seconds / 60) || 1} minutes`;
  return notice(
    "There is no map of this index yet",
    element("p", {}, `A map shows its ${passages.toLocaleString("en")} passages as points, near to each other where they are about the same. Making it takes ${says}; it is kept.`),
    element("p", {}, element("button", { type: "button", class: "button main", on: { click: make } }, "Make the map")),
  );
}
