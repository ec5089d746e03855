// @ts-check
/**
 * Paints points into the pixels of a canvas, by hand: a hundred thousand of them in a few milliseconds, where drawing
 * each as a shape takes a hundred times as long. A point covers what is there by half, so many on one place read denser.
 */

/** @typedef {import("./points.js").Points} Points */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {[number, number, number]} Rgb */

export const HIDDEN = 0;
export const FADED = 1;
export const SHOWN = 2;
const COVERS = [0, 36, 150]; // of 256, by state: how much a point hides of what is below it
const MOST_PIXELS = 5_000_000; // beyond it, a screen's pixels are painted in fours

export class Painter {
  /** @type {ImageData | null} */
  #image = null;
  #pixels = new Uint32Array(0);

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
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
export function sideOf({ zoom }, count, ratio) {
  const base = count > 60_000 ? 1.2 : count > 20_000 ? 1.6 : count > 3_000 ? 2.4 : 4;
  return Math.min(Math.max(Math.round(base * ratio * zoom ** 0.4), 1), Math.round(9 * ratio));
}

/** @param {Rgb} colour */
function packed([red, green, blue]) {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}
