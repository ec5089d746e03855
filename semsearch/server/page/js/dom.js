/**
 * The one place where elements are made. Text becomes text nodes, never markup, whatever it holds.
 * Styles that are computed are set by `node.style.x = …`, which the page's policy allows; a style attribute it does not.
 */

/** @typedef {Node | string | number | null | undefined | false | Child[]} Child */
/** @typedef {Record<string, (event: any) => void>} Listeners */

/**
 * Make an element. `properties` are attributes by name: true is an attribute without value, null and false are none;
 * `on` holds listeners by event.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any> & {on?: Listeners}} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  const { on = {}, ...attributes } = properties;
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style" || name.startsWith("on")) throw new Error(`${name} is no attribute to set`);
    made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const [event, listener] of Object.entries(on)) made.addEventListener(event, listener);
  made.append(...nodes(children));
  return made;
}

/** Have an element hold these children and no others. @param {Element} parent @param {...Child} children */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodes(children) {
  return /** @type {any[]} */ (children)
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false).map(text);
}

/** @param {Node | string | number} child */
function text(child) {
  return child instanceof Node ? child : String(child);
}

/** @type {ReturnType<typeof setTimeout> | undefined} what is to be said when it is quiet */
let waiting;

/** Say something to those who cannot see it happen, politely, instead of what was still to be said. @param {string} sentence */
export function say(sentence) {
  hush();
  const live = document.getElementById("live");
  if (live && live.textContent !== sentence) live.textContent = sentence;
}

/** Say something after a while, unless something else is said before. @param {string} sentence @param {number} wait in milliseconds */
export function sayLater(sentence, wait) {
  hush();
  waiting = setTimeout(() => say(sentence), wait);
}

/** Do not say what was still to be said. */
export function hush() {
  clearTimeout(waiting);
}
