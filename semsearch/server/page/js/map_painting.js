/**
 * What is painted: the points, and over them the words of regions, hits with their ranks, a ring and the chosen part.
 * Points go into the pixels of a canvas by hand: a hundred thousand of them in a few milliseconds, where drawing each as
 * a shape takes a hundred times as long. A point covers what is there by half, so many on one place read denser.
 */

import { element } from "./dom.js";

/** @import { Camera, Points } from "./map_points.js" */

/** @typedef {[number, number, number]} Rgb */

export const HIDDEN = 0;
export const FADED = 1;
export const SHOWN = 2;
const COVERS = [0, 36, 150]; // of 256, by state: how much a point hides of what is below it
const MOST_PIXELS = 5_000_000; // beyond it, a screen's pixels are painted in fours

/** Paints the points. */
export class Painter {
  /** @type {ImageData | null} */
  #image = null;
  #pixels = new Uint32Array(0);

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /** Have as many pixels as the screen has, for a size in CSS pixels. @param {number} width @param {number} height */
  resize(width, height) {
    const most = Math.sqrt(MOST_PIXELS / Math.max(width * height, 1));
    this.ratio = Math.min(globalThis.devicePixelRatio || 1, most);
    this.canvas.width = Math.max(Math.round(width * this.ratio), 1);
    this.canvas.height = Math.max(Math.round(height * this.ratio), 1);
    this.#image = this.context.createImageData(this.canvas.width, this.canvas.height);
    this.#pixels = new Uint32Array(this.#image.data.buffer);
  }

  ratio = 1;

  /**
   * @param {Points} points @param {Camera} camera @param {Uint8Array} groups of each point
   * @param {Uint8Array} states of each point: HIDDEN, FADED, SHOWN @param {Rgb[]} colours of groups @param {Rgb} paper
   */
  paint({ count, xy }, camera, groups, states, colours, paper) {
    if (!this.#image) return;
    const { width, height } = this.canvas;
    const pixels = this.#pixels;
    pixels.fill(packed(paper));
    const scale = camera.scale * this.ratio;
    const side = sideOf(camera, count, this.ratio);
    const left = width / 2 - camera.x * scale - (side - 1) / 2;
    const top = height / 2 + camera.y * scale - (side - 1) / 2;
    const redBlue = [HIDDEN, FADED, SHOWN].map((state) => Int32Array.from(colours, ([red, , blue]) => Math.imul((blue << 16) | red, COVERS[state])));
    const green = [HIDDEN, FADED, SHOWN].map((state) => Int32Array.from(colours, ([, value]) => Math.imul(value << 8, COVERS[state])));
    const lastColumn = width - side;
    const lastRow = height - side;
    for (let number = 0; number < count; number++) {
      const state = states[number];
      if (state === HIDDEN) continue;
      const column = (left + xy[2 * number] * scale + 0.5) | 0;
      if (column < 0 || column > lastColumn) continue;
      const row = (top - xy[2 * number + 1] * scale + 0.5) | 0;
      if (row < 0 || row > lastRow) continue;
      const stays = 256 - COVERS[state]; // of 256: what stays of the pixel
      const ownRedBlue = redBlue[state][groups[number]];
      const ownGreen = green[state][groups[number]];
      for (let down = 0; down < side; down++) {
        const first = (row + down) * width + column;
        for (let at = first; at < first + side; at++) {
          const there = pixels[at];
          pixels[at] =
            0xff000000 |
            (((Math.imul(there & 0xff00ff, stays) + ownRedBlue) >>> 8) & 0xff00ff) |
            (((Math.imul(there & 0xff00, stays) + ownGreen) >>> 8) & 0xff00);
        }
      }
    }
    this.context.putImageData(this.#image, 0, 0);
  }
}

/** How many pixels wide a point is: more where there are few, and the closer one looks. @param {Camera} camera @param {number} count @param {number} ratio */
function sideOf({ zoom }, count, ratio) {
  const base = count > 60_000 ? 1.2 : count > 20_000 ? 1.6 : count > 3_000 ? 2.4 : 4;
  return Math.min(Math.max(Math.round(base * ratio * zoom ** 0.4), 1), Math.round(9 * ratio));
}

/** @param {Rgb} colour */
function packed([red, green, blue]) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

// What is drawn over the points

/** @typedef {{x: number, y: number, words: string[], passages: number, level: number}} Region */
/**
 * @typedef {object} Drawn
 * @property {Region[]} regions
 * @property {{x: number, y: number, rank: number}[]} hits the best first
 * @property {[number, number] | null} pointed the point under the pointer, or of the hit that is looked at
 * @property {[number, number, number, number] | null} part that is chosen: least x and y, largest x and y
 */
/** @typedef {{ink: string, paper: string, accent: string, accentInk: string, soft: string}} Inks */

const FROM = [0.999, 2.2, 5]; // zoom from which regions of each level have their words
const MOST_LABELS = 40;
const RANKED = 10; // hits that show their rank; those after them are small

/** Draws what is over the points. */
export class Overlay {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    this.ratio = globalThis.devicePixelRatio || 1;
    this.canvas.width = Math.max(Math.round(width * this.ratio), 1);
    this.canvas.height = Math.max(Math.round(height * this.ratio), 1);
  }

  ratio = 1;

  /** @param {Drawn} drawn @param {Camera} camera @param {Inks} inks */
  draw(drawn, camera, inks) {
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, camera.width, camera.height);
    if (drawn.part) this.#part(drawn.part, camera, inks);
    const taken = this.#hits(drawn, camera, inks);
    this.#labels(drawn.regions, camera, inks, taken);
    if (drawn.pointed) this.#ring(camera.toScreen(...drawn.pointed), inks);
  }

  /** @param {Region[]} regions @param {Camera} camera @param {Inks} inks @param {Box[]} taken */
  #labels(regions, camera, inks, taken) {
    const { context } = this;
    const shown = regions.filter(({ level }) => camera.zoom >= FROM[level] && (level > 0 || camera.zoom < FROM[2])).sort(smallerFirst(camera.zoom));
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    let count = 0;
    for (const { x, y, words, level } of shown) {
      if (count >= MOST_LABELS) return;
      const [px, py] = camera.toScreen(x, y);
      const isLarge = level === 0 && camera.zoom < FROM[1];
      context.font = isLarge ? "600 14px system-ui, sans-serif" : "500 12.5px system-ui, sans-serif";
      const text = words.slice(0, camera.width < 500 ? 1 : 2).join(" · ");
      const half = context.measureText(text).width / 2 + 4;
      if (px < half || px > camera.width - half || py < 10 || py > camera.height - 10) continue;
      const box = /** @type {Box} */ ([px - half, py - 10, px + half, py + 10]);
      if (taken.some((other) => overlap(box, other))) continue;
      taken.push(box);
      count++;
      context.strokeStyle = inks.paper;
      context.lineWidth = 4;
      context.strokeText(text, px, py);
      context.fillStyle = inks.ink;
      context.fillText(text, px, py);
    }
  }

  /** Draw the hits, the best last and so on top; returns what they take up. @param {Drawn} drawn @param {Camera} camera @param {Inks} inks */
  #hits({ hits }, camera, inks) {
    const { context } = this;
    /** @type {Box[]} */
    const taken = [];
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.font = "600 11px system-ui, sans-serif";
    for (const { x, y, rank } of hits.toReversed()) {
      const [px, py] = camera.toScreen(x, y);
      const radius = rank <= RANKED ? 9 : 5;
      context.beginPath();
      context.arc(px, py, radius, 0, 2 * Math.PI);
      context.fillStyle = inks.accent;
      context.fill();
      context.strokeStyle = inks.paper;
      context.lineWidth = 2;
      context.stroke();
      if (rank > RANKED) continue;
      context.fillStyle = inks.accentInk;
      context.fillText(String(rank), px, py + 0.5);
      taken.push([px - radius, py - radius, px + radius, py + radius]);
    }
    return taken;
  }

  /** @param {[number, number]} place @param {Inks} inks */
  #ring([px, py], inks) {
    const { context } = this;
    for (const [colour, width] of /** @type {[string, number][]} */ ([[inks.paper, 6], [inks.ink, 2.5]])) {
      context.beginPath();
      context.arc(px, py, 12, 0, 2 * Math.PI);
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke();
    }
  }

  /** @param {[number, number, number, number]} part @param {Camera} camera @param {Inks} inks */
  #part([left, bottom, right, top], camera, inks) {
    const [x, y] = camera.toScreen(left, top);
    const [toX, toY] = camera.toScreen(right, bottom);
    this.context.strokeStyle = inks.accent;
    this.context.lineWidth = 2;
    this.context.strokeRect(x, y, toX - x, toY - y);
  }
}

/** @typedef {[number, number, number, number]} Box */

/** @param {Box} one @param {Box} other */
function overlap(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

/** Large regions come first from afar, the smaller ones of the deepest level that is seen from near. @param {number} zoom @returns {(one: Region, other: Region) => number} */
function smallerFirst(zoom) {
  return (one, other) => (zoom < FROM[1] ? one.level - other.level : other.level - one.level) || other.passages - one.passages;
}

// Colours as numbers for pixels: css/map.css has them, light and dark

const GROUPS = 12;

/** The colours of groups: the last is that of all others. @param {number} count @returns {Rgb[]} */
export function groupColours(count) {
  return Array.from({ length: count }, (_, number) => rgb(colour(groupToken(number))));
}

/** The token of a group's colour. @param {number} number */
export function groupToken(number) {
  return `map-${(number % GROUPS) + 1}`;
}

/** The colour below the points. @returns {Rgb} */
export function paperColour() {
  return rgb(colour("map-paper"));
}

/** @returns {Inks} */
export function inks() {
  return { ink: colour("ink"), paper: colour("map-paper"), accent: colour("map-hit"), accentInk: colour("map-hit-ink"), soft: colour("ink-soft") };
}

/** The colour of a token such as "accent" as the canvas can use it: `rgb(…)`. @param {string} token */
function colour(token) {
  const probe = element("span", { hidden: true });
  probe.style.color = `var(--${token})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

/** @param {string} css @returns {Rgb} */
function rgb(css) {
  const [red, green, blue] = (css.match(/[\d.]+/g) ?? ["0", "0", "0"]).map(Number);
  return [red, green, blue];
}
