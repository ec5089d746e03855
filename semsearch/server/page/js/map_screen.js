/** The map itself: two canvases, one for points and one over it, with what pointers and keys do to them. */

import { element } from "./dom.js";
import { FADED, groupColours, HIDDEN, inks, Overlay, Painter, paperColour, SHOWN } from "./map_painting.js";
import { Camera, Grid } from "./map_points.js";

/** @import { Drawn, Region } from "./map_painting.js" */
/** @import { Points } from "./map_points.js" */

/**
 * What a screen tells.
 * @typedef {object} Told
 * @property {(number: number, px: number, py: number) => void} pointed at a point; -1 at none
 * @property {(number: number) => void} clicked
 * @property {(numbers: number[] | null) => void} chosen the points of a part; null where none is chosen any more
 * @property {() => void} moved
 */

const REACH = 10; // pixels from a point at which it is pointed at
const STEP = 80; // pixels that an arrow key moves
const CLOSER = 1.4;
const DARK = matchMedia("(prefers-color-scheme: dark)");

/** The canvases and what is on them. */
export class MapScreen {
  camera = new Camera();
  /** @type {Points | null} */
  points = null;
  /** @type {Drawn} */
  drawn = { regions: [], hits: [], pointed: null, part: null };
  #by = 0;
  #colourCount = 1;
  /** @type {boolean[]} */
  #isOff = [];
  /** @type {Set<number> | null} */
  #inside = null;
  #states = new Uint8Array(0);
  #frame = 0;
  #pointsChanged = true;
  palette = this.#palette();

  /** @param {Told} told */
  constructor(told) {
    this.told = told;
    this.below = element("canvas", { class: "map-points", "aria-hidden": "true" });
    this.above = element("canvas", { class: "map-above", "aria-hidden": "true" });
    this.node = element(
      "div",
      { class: "map-screen", tabindex: "0", role: "application", "aria-roledescription": "map", "aria-label": "Map of passages", on: { keydown: (event) => this.#key(event) } },
      this.below, this.above,
    );
    this.painter = new Painter(this.below);
    this.overlay = new Overlay(this.above);
    listenToPointers(this.node, {
      pan: (dx, dy) => this.#move(() => this.camera.pan(dx, dy)),
      closer: (factor, x, y) => this.#move(() => this.camera.closer(factor, x, y)),
      hover: (x, y) => this.#hover(x, y),
      left: () => this.#point(-1, 0, 0),
      click: (x, y) => this.#click(x, y),
    });
    this.sizes = new ResizeObserver(() => this.#resize());
    this.sizes.observe(this.node);
    DARK.addEventListener("change", this.#recolour);
  }

  end() {
    cancelAnimationFrame(this.#frame);
    this.sizes.disconnect();
    DARK.removeEventListener("change", this.#recolour);
  }

  #recolour = () => {
    this.palette = this.#palette();
    this.repaint();
  };

  /** Show points. @param {Points} points @param {Region[]} regions */
  show(points, regions) {
    this.points = points;
    this.grid = new Grid(points);
    this.drawn = { regions, hits: [], pointed: null, part: null };
    this.#inside = null;
    this.node.setAttribute("aria-label", `Map of ${points.count.toLocaleString("en")} passages. Arrow keys move it, plus and minus zoom, 0 shows the whole map.`);
    this.#restate();
  }

  /** Colour by one of the groupings; the groups that are off are hidden. @param {number} by @param {number} count @param {boolean[]} isOff */
  colourBy(by, count, isOff) {
    this.#by = by;
    this.#colourCount = count;
    this.#isOff = isOff;
    this.palette = this.#palette();
    this.#restate();
  }

  /** Light up hits. @param {{number: number, rank: number}[]} hits */
  light(hits) {
    const { points } = this;
    this.drawn.hits = points ? hits.map(({ number, rank }) => ({ x: points.xy[2 * number], y: points.xy[2 * number + 1], rank })) : [];
    this.redraw();
  }

  /** Put a ring around a point, and look there if it is not in sight. @param {number} number -1 for none @param {boolean} [goThere] */
  ring(number, goThere = false) {
    if (!this.points || number < 0) this.drawn.pointed = null;
    else {
      const x = this.points.xy[2 * number];
      const y = this.points.xy[2 * number + 1];
      this.drawn.pointed = [x, y];
      if (goThere) this.#move(() => this.camera.lookAt(x, y, 6));
    }
    this.redraw();
  }

  /** Choose the points that are seen now, to search in. */
  chooseView() {
    const part = this.camera.seen();
    /** @type {number[]} */
    const found = [];
    this.grid?.each(...part, (number) => void (this.#isOff[this.points?.groups[this.#by][number] ?? 0] || found.push(number)));
    if (!found.length) return this.chooseAll();
    this.drawn.part = part;
    this.#inside = new Set(found);
    this.#restate();
    this.told.chosen(found.sort((one, other) => one - other));
  }

  /** Have no part be chosen any more. */
  chooseAll() {
    this.drawn.part = null;
    this.#inside = null;
    this.#restate();
    this.told.chosen(null);
  }

  /** The points that are seen now, those in the middle first. @param {number} most @returns {{total: number, numbers: number[]}} */
  inView(most) {
    const { points, grid, camera } = this;
    if (!points || !grid) return { total: 0, numbers: [] };
    /** @type {number[]} */
    const found = [];
    grid.each(...camera.seen(), (number) => void (this.#states[number] === SHOWN && found.push(number)));
    const apart = (/** @type {number} */ number) => (points.xy[2 * number] - camera.x) ** 2 + (points.xy[2 * number + 1] - camera.y) ** 2;
    return { total: found.length, numbers: found.sort((one, other) => apart(one) - apart(other)).slice(0, most) };
  }

  /** @param {"in" | "out" | "all"} how */
  look(how) {
    this.#move(() => (how === "all" ? this.camera.reset() : this.camera.closer(how === "in" ? CLOSER : 1 / CLOSER)));
  }

  repaint() {
    this.#pointsChanged = true;
    this.redraw();
  }

  redraw() {
    this.#frame ||= requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.#frame = 0;
    const { points, camera, palette } = this;
    if (points && this.#pointsChanged) this.painter.paint(points, camera, points.groups[this.#by], this.#states, palette.colours, palette.paper);
    this.#pointsChanged = false;
    this.overlay.draw(this.drawn, camera, palette.inks);
  }

  #palette() {
    return { colours: groupColours(Math.max(this.#colourCount, 1)), paper: paperColour(), inks: inks() };
  }

  #resize() {
    const { clientWidth, clientHeight } = this.node;
    if (!clientWidth || !clientHeight) return;
    this.camera.resize(clientWidth, clientHeight);
    this.painter.resize(clientWidth, clientHeight);
    this.overlay.resize(clientWidth, clientHeight);
    this.#pointsChanged = true;
    cancelAnimationFrame(this.#frame);
    this.#paint(); // at once: a canvas that is resized is empty
    this.told.moved();
  }

  #restate() {
    const { points } = this;
    if (!points) return;
    const groups = points.groups[this.#by];
    this.#states = new Uint8Array(points.count).fill(this.#inside ? FADED : SHOWN);
    for (const number of this.#inside ?? []) this.#states[number] = SHOWN;
    for (let number = 0; number < points.count; number++) if (this.#isOff[groups[number]]) this.#states[number] = HIDDEN;
    this.repaint();
    this.told.moved();
  }

  /** @param {() => void} how */
  #move(how) {
    how();
    this.repaint();
    this.told.moved();
  }

  /** @param {number} px @param {number} py */
  #at(px, py) {
    if (!this.grid) return -1;
    const [x, y] = this.camera.toMap(px, py);
    return this.grid.nearest(x, y, REACH / this.camera.scale, (number) => this.#states[number] !== HIDDEN);
  }

  /** @param {number} px @param {number} py */
  #hover(px, py) {
    this.#point(this.#at(px, py), px, py);
  }

  /** @param {number} number @param {number} px @param {number} py */
  #point(number, px, py) {
    this.node.classList.toggle("on-point", number >= 0);
    this.ring(number);
    this.told.pointed(number, px, py);
  }

  /** @param {number} px @param {number} py */
  #click(px, py) {
    const number = this.#at(px, py);
    if (number >= 0) this.told.clicked(number);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = /** @type {Record<string, () => void>} */ ({
      ArrowLeft: () => this.#move(() => this.camera.pan(STEP, 0)),
      ArrowRight: () => this.#move(() => this.camera.pan(-STEP, 0)),
      ArrowUp: () => this.#move(() => this.camera.pan(0, STEP)),
      ArrowDown: () => this.#move(() => this.camera.pan(0, -STEP)),
      "+": () => this.look("in"),
      "=": () => this.look("in"),
      "-": () => this.look("out"),
      0: () => this.look("all"),
    });
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  }
}

// Pointers, wheel and fingers: drag to move, wheel or two fingers to look closer

/**
 * @typedef {object} Pointing
 * @property {(dx: number, dy: number) => void} pan
 * @property {(factor: number, x: number, y: number) => void} closer
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} left the pointer has left
 * @property {(x: number, y: number) => void} click
 */

const STILL = 4; // pixels that a click may move

/** Listen on a canvas. @param {HTMLElement} target @param {Pointing} does */
function listenToPointers(target, does) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;

  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    target.setPointerCapture(event.pointerId);
    down.set(event.pointerId, placeOf(event));
    moved = 0;
  });

  target.addEventListener("pointermove", (event) => {
    const now = placeOf(event);
    const before = down.get(event.pointerId);
    if (!before) return does.hover(now.x, now.y);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (down.size === 1) does.pan(now.x - before.x, now.y - before.y);
    else pinch(event.pointerId, before, now);
    down.set(event.pointerId, now);
  });

  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    target.addEventListener(name, (event) => {
      if (!down.delete(event.pointerId)) return;
      if (name === "pointerup" && moved < STILL) does.click(...pair(placeOf(event)));
    });
  }

  target.addEventListener("pointerleave", () => does.left());
  target.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      does.closer(Math.exp(-event.deltaY * lines * 0.0016), ...pair(placeOf(event)));
    },
    { passive: false },
  );

  /** @param {PointerEvent | WheelEvent} event */
  function placeOf(event) {
    const box = target.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** Two fingers: the map follows them. @param {number} finger @param {{x: number, y: number}} before @param {{x: number, y: number}} now */
  function pinch(finger, before, now) {
    const other = [...down].find(([id]) => id !== finger)?.[1];
    if (!other) return;
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
    does.closer(factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
    does.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
  }
}

/** @param {{x: number, y: number}} place @returns {[number, number]} */
function pair({ x, y }) {
  return [x, y];
}
