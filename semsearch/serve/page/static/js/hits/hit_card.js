// @ts-check
/** A hit as a card: what it is from, its passage with the best sentence marked, where it is, what can be done with it. */

import { element, fill } from "../dom.js";
import { indexOf, nameOf, sourceAddress, titleOf, trailOf } from "./context.js";
import { HIT_ACTIONS } from "./hit_actions.js";
import { passageOf } from "./passage.js";
import { locationOf, positionOf, shortPath } from "./place.js";

/** @typedef {import("./context.js").HitContext} HitContext */

/** The card of a hit: an item of a list. @param {any} hit @param {HitContext} context */
export function hitCard(hit, context) {
  const { text, more } = passageOf(hit);
  const trail = trailOf(hit);
  const panel = element("div", { class: "hit-panel", hidden: true });
  return element(
    "li",
    { class: "hit", "data-hit": nameOf(hit, context) },
    element("div", { class: "hit-head" }, element("h2", { class: "hit-title" }, sourceLink(hit, context)), score(hit)),
    trail ? element("p", { class: "hit-crumbs small", dir: "auto" }, trail) : null,
    text,
    element(
      "div",
      { class: "hit-foot" },
      element("p", { class: "hit-place small" }, place(hit, context)),
      element("div", { class: "hit-actions" }, more, actionButtons(panel, hit, context)),
    ),
    duplicates(hit),
    panel,
  );
}

/** @param {any} hit @param {HitContext} context */
function sourceLink(hit, context) {
  const address = sourceAddress(hit, context);
  const title = titleOf(hit);
  if (!address) return element("span", { class: "hit-source", tabindex: "0", dir: "auto" }, title);
  const link = element("a", { class: "hit-source", href: address, dir: "auto" }, title);
  link.addEventListener("click", (event) => {
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (isPlain && context.open?.(hit)) event.preventDefault();
  });
  return link;
}

/** @param {any} hit */
function score(hit) {
  const parts = [
    hit.dense === null ? "no word known by meaning" : `meaning ${hit.dense.toFixed(3)}`,
    hit.lexical === null ? "no word in common" : `words ${hit.lexical.toFixed(2)}`,
    ...(typeof hit.relevance === "number" ? [`${Math.round(100 * hit.relevance)} % likely to answer`] : []),
  ];
  return element("span", { class: "hit-score small", title: `Score ${hit.score.toFixed(3)}: ${parts.join(", ")}` }, hit.score.toFixed(2));
}

/** @param {any} hit @param {HitContext} context */
function place(hit, context) {
  return [
    hit.index ? [element("span", { class: "hit-index" }, indexOf(hit, context)), " · "] : null,
    element("span", { title: hit.path }, element("bdi", {}, shortPath(hit)), element("span", { class: "hit-position" }, positionOf(hit))),
    hit.format ? [" · ", element("span", {}, hit.format)] : null,
    hit.stale ? [" · ", element("span", { class: "stale" }, "changed since it was indexed")] : null,
  ];
}

/** @param {any} hit */
function duplicates(hit) {
  if (!hit.duplicates.length) return null;
  const places = hit.duplicates.map((/** @type {any} */ each) => element("li", { title: each.path }, locationOf(each, shortPath(each))));
  const count = places.length === 1 ? "Also in one other place" : `Also in ${places.length} other places`;
  return element("details", { class: "hit-duplicates small" }, element("summary", {}, count), element("ul", {}, places));
}

/** The buttons of the actions. One panel serves them all. @param {HTMLElement} panel @param {any} hit @param {HitContext} context */
function actionButtons(panel, hit, context) {
  /** @type {(() => void) | void} */
  let close;
  /** @type {HTMLElement | null} */
  let opener = null;
  return HIT_ACTIONS.filter(({ fits }) => fits?.(hit, context) ?? true).map(button);

  /** @param {import("./hit_actions.js").HitAction} action */
  function button(action) {
    const made = element("button", { type: "button", class: "button quiet", "data-action": action.name }, action.label);
    if (action.show) made.setAttribute("aria-expanded", "false");
    made.addEventListener("click", () => (action.show ? toggle(made, action) : action.run?.(hit, context)));
    return made;
  }

  /** @param {HTMLElement} pressed @param {import("./hit_actions.js").HitAction} action */
  function toggle(pressed, action) {
    const opens = opener !== pressed;
    close?.();
    opener?.setAttribute("aria-expanded", "false");
    opener = opens ? pressed : null;
    fill(panel);
    panel.hidden = !opens;
    pressed.setAttribute("aria-expanded", String(opens));
    close = opens ? action.show?.(panel, hit, context) : undefined;
  }
}
