// @ts-check
/** Which part of the map is seen: its middle, and how many pixels a unit has. Pixels are those of CSS. */

const MARGIN = 1.06; // around all points
const CLOSEST = 400; // times as near as where all is seen

export class Camera {
  x = 0;
  y = 0;
  zoom = 1; // 1: all is seen
  width = 1;
  height = 1;

  /** Pixels of a unit. */
  get scale() {
    return (this.zoom * Math.min(this.width, this.height)) / 2 / MARGIN;
  }

  /** @param {number} width @param {number} height */
  resize(width, height) {
    this.width = Math.max(width, 1);
    this.height = Math.max(height, 1);
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  /** @param {number} px @param {number} py @returns {[number, number]} */
  toMap(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  /** Move what is seen by so many pixels. @param {number} dx @param {number} dy */
  pan(dx, dy) {
    this.x = bounded(this.x - dx / this.scale, 1.2);
    this.y = bounded(this.y + dy / this.scale, 1.2);
  }

  /** Look closer by a factor; what is at a pixel stays there. @param {number} factor @param {number} [px] @param {number} [py] */
  closer(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toMap(px, py);
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), CLOSEST);
    const [nowX, nowY] = this.toMap(px, py);
    this.x = bounded(this.x + x - nowX, 1.2);
    this.y = bounded(this.y + y - nowY, 1.2);
  }

  /** See all. */
  reset() {
    this.x = this.y = 0;
    this.zoom = 1;
  }

  /** Have a place in the middle. @param {number} x @param {number} y @param {number} [zoom] at least */
  lookAt(x, y, zoom = 1) {
    this.x = x;
    this.y = y;
    this.zoom = Math.max(this.zoom, zoom);
  }

  /** The part of the map that is seen: least x and y, largest x and y. @returns {[number, number, number, number]} */
  seen() {
    const [left, top] = this.toMap(0, 0);
    const [right, bottom] = this.toMap(this.width, this.height);
    return [left, bottom, right, top];
  }
}

/** @param {number} value @param {number} most */
function bounded(value, most) {
  return Math.min(Math.max(value, -most), most);
}
