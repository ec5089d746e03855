/** The list of hits, how one moves in it, and the card of each. */

import { element, fill } from "./dom.js";
import { HIT_ACTIONS } from "./hit_actions.js";
import { indexOf, locationOf, nameOf, passageOf, positionOf, shortPath, sourceAddress, titleOf, trailOf } from "./passages.js";
import { counted } from "./widgets.js";

/** @import { HitAction } from "./hit_actions.js" */
/** @import { Hit, HitContext } from "./passages.js" */

/** The list of hits. */
export class HitList {
  constructor() {
    this.node = element("ol", { class: "hits" });
  }

  /** @param {Hit[]} hits @param {HitContext} context @param {boolean} isNearest whether nothing answers */
  show(hits, context, isNearest) {
    fill(this.node, hits.map((hit) => hitCard(hit, context, isNearest)));
  }

  /** @returns {HTMLElement[]} */
  get cards() {
    return /** @type {HTMLElement[]} */ ([...this.node.children]);
  }

  /** The card that has the focus, if one has. */
  get current() {
    return this.cards.find((card) => card.contains(document.activeElement)) ?? null;
  }

  /** Have the focus go down or up; false if there is no card there. @param {number} step */
  move(step) {
    const at = this.current ? this.cards.indexOf(this.current) + step : step > 0 ? 0 : -1;
    return this.focus(this.cards[at]);
  }

  /** Have a card get the focus; false if there is none. @param {HTMLElement | undefined} card */
  focus(card) {
    const target = /** @type {HTMLElement | null | undefined} */ (card?.querySelector(".hit-source"));
    if (!card || !target) return false;
    target.focus({ preventScroll: true });
    card.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** The card of a hit by its name. @param {string} name */
  byName(name) {
    return this.cards.find((card) => card.dataset.hit === name);
  }

  /** Press a button of the card that has the focus; false if none has. @param {string} selector */
  press(selector) {
    const button = /** @type {HTMLElement | null | undefined} */ (this.current?.querySelector(selector));
    button?.click();
    return Boolean(button);
  }
}

// The card of a hit: what it is from, its passage, where it is, what can be done with it

/** The card of a hit: an item of a list. @param {Hit} hit @param {HitContext} context @param {boolean} isNearest */
function hitCard(hit, context, isNearest) {
  const { text, more } = passageOf(hit, context);
  const trail = trailOf(hit);
  const panel = element("div", { class: "hit-panel", hidden: true });
  return element(
    "li",
    { class: "hit", "data-hit": nameOf(hit, context) },
    element("div", { class: "hit-head" }, element("h2", { class: "hit-title" }, sourceLink(hit, context)), score(hit, isNearest)),
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

/** @param {Hit} hit @param {HitContext} context */
function sourceLink(hit, context) {
  const link = element("a", { class: "hit-source", href: sourceAddress(hit, context), dir: "auto" }, titleOf(hit));
  link.addEventListener("click", (event) => {
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (isPlain && context.open?.(hit)) event.preventDefault();
  });
  return link;
}

/** The score of a hit; where nothing answers, how likely it does. @param {Hit} hit @param {boolean} isNearest */
function score(hit, isNearest) {
  if (hit.occurrences) return element("span", { class: "hit-score small" }, counted(hit.occurrences, "time"));
  const parts = [
    hit.dense === null ? "no word has a vector" : `meaning ${hit.dense.toFixed(3)}`,
    hit.lexical === null ? "no word in common" : `words ${hit.lexical.toFixed(2)}`,
  ];
  const shown = isNearest && hit.relevance !== null ? `${Math.round(100 * hit.relevance)}% likely` : hit.score.toFixed(2);
  return element("span", { class: "hit-score small", title: `Score ${hit.score.toFixed(3)}: ${parts.join(", ")}` }, shown);
}

/** The name of a language in English, by its code. @param {string} code */
function languageName(code) {
  return new Intl.DisplayNames(["en"], { type: "language" }).of(code) ?? code;
}

/** @param {Hit} hit @param {HitContext} context */
function place(hit, context) {
  return [
    hit.index ? [element("span", { class: "hit-index" }, indexOf(hit, context)), " · "] : null,
    element("span", { title: hit.path }, element("bdi", {}, shortPath(hit)), element("span", { class: "hit-position" }, positionOf(hit))),
    hit.format ? [" · ", element("span", {}, hit.format)] : null,
    hit.language ? [" · ", element("span", {}, languageName(hit.language))] : null,
    hit.stale ? [" · ", element("span", { class: "stale" }, `${hit.deleted ? "deleted" : "changed"} since it was indexed`)] : null,
  ];
}

/** @param {Hit} hit */
function duplicates(hit) {
  if (!hit.duplicates.length) return null;
  const places = hit.duplicates.map((each) => element("li", { title: each.path }, locationOf(each, shortPath(each))));
  const count = counted(places.length, "near-duplicate");
  return element("details", { class: "hit-duplicates small" }, element("summary", {}, count), element("ul", {}, places));
}

/** The buttons of the actions. One panel serves them all. @param {HTMLElement} panel @param {Hit} hit @param {HitContext} context */
function actionButtons(panel, hit, context) {
  /** @type {(() => void) | void} */
  let close;
  /** @type {HTMLElement | null} */
  let opener = null;
  return HIT_ACTIONS.filter(({ fits }) => fits?.(hit, context) ?? true).map(button);

  /** @param {HitAction} action */
  function button(action) {
    const made = element("button", { type: "button", class: "button quiet", "data-action": action.name }, action.label);
    if (action.show) made.setAttribute("aria-expanded", "false");
    made.addEventListener("click", () => (action.show ? toggle(made, action) : action.run?.(hit, context)));
    return made;
  }

  /** @param {HTMLElement} pressed @param {HitAction} action */
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
