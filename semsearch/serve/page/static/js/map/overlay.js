// @ts-check
/** What is drawn over the points: the words of regions, hits with their ranks, the point under the pointer, the outline. */

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {{x: number, y: number, words: string[], passages: number, level: number}} Region */
/**
 * @typedef {object} Drawn
 * @property {Region[]} regions
 * @property {{x: number, y: number, rank: number}[]} hits the best first
 * @property {[number, number] | null} pointed the point under the pointer, or of the hit that is looked at
 * @property {[number, number][]} outline
 * @property {boolean} isClosed whether the outline is drawn to its end
 */
/** @typedef {{ink: string, paper: string, accent: string, accentInk: string, soft: string}} Inks */

const FROM = [0.999, 2.2, 5]; // zoom from which regions of each level have their words
const MOST_LABELS = 40;
const RANKED = 10; // hits that show their rank; those after them are small

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
    this.#outline(drawn, camera, inks);
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

  /** @param {Drawn} drawn @param {Camera} camera @param {Inks} inks */
  #outline({ outline, isClosed }, camera, inks) {
    if (outline.length < 2) return;
    const { context } = this;
    context.beginPath();
    for (const [x, y] of outline) context.lineTo(...camera.toScreen(x, y));
    if (isClosed) context.closePath();
    context.strokeStyle = inks.accent;
    context.lineWidth = 2;
    context.setLineDash(isClosed ? [] : [6, 4]);
    context.stroke();
    context.setLineDash([]);
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
