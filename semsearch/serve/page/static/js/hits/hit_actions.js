// @ts-check
/** What can be done with a hit, one line each: the buttons below its passage, in their order. */

import { cite } from "./cite.js";
import { similar } from "./similar.js";
import { why } from "../why/why.js";

/** @typedef {import("./context.js").HitContext} HitContext */
/**
 * An action with a hit. `show` fills a panel below the passage, which the button opens and closes, and may return a
 * function that is called when it closes; `run`, instead, does something at once.
 * @typedef {object} HitAction
 * @property {string} name of its class
 * @property {string} label
 * @property {string} says what its key does, for the list of keys
 * @property {string} key a letter that does it for the hit that has the focus
 * @property {(hit: any, context: HitContext) => boolean} [fits] whether it is offered; by default always
 * @property {(hit: any, context: HitContext) => void} [run]
 * @property {(panel: HTMLElement, hit: any, context: HitContext) => void | (() => void)} [show]
 */

/** @type {HitAction[]} */
export const HIT_ACTIONS = [why, similar, cite];
