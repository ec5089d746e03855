/** The points of a map: read from bytes, found near a place or in a rectangle, and seen by a camera. No element is made. */

const HEAD = 16;

/**
 * The points, as /v1/map/points sends them (docs/developers/server.md has the order of its bytes).
 * @typedef {object} Points
 * @property {number} count
 * @property {number} generation of the index
 * @property {Float64Array} ids of the passages, rising
 * @property {Float32Array} xy x and y of each, from -1 to 1, y upwards
 * @property {Uint8Array[]} groups of each point: by folder, by type, by document
 */

/** @param {ArrayBuffer} bytes @returns {Points} */
export function readPoints(bytes) {
  if (new TextDecoder().decode(bytes.slice(0, 8)) !== "semmap 1") throw new Error("The server sent a map of another version. Reload the page.");
  const head = new DataView(bytes);
  const count = head.getUint32(8, true);
  const groupsAt = HEAD + 16 * count;
  return {
    count,
    generation: head.getUint32(12, true),
    ids: new Float64Array(bytes, HEAD, count),
    xy: new Float32Array(bytes, HEAD + 8 * count, 2 * count),
    groups: [0, 1, 2].map((which) => new Uint8Array(bytes, groupsAt + which * count, count)),
  };
}

/** The number of the point of a passage; -1 if it is not on the map. @param {Points} points @param {number} id */
export function numberOf({ ids, count }, id) {
  let low = 0;
  let high = count - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (ids[middle] === id) return middle;
    if (ids[middle] < id) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

// Points near a place

const CELLS = 128; // in each direction

/** Points sorted into the cells of a grid, so that those near a place are found without looking at all. */
export class Grid {
  /** @param {Points} points */
  constructor(points) {
    this.points = points;
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    this.order = new Uint32Array(points.count);
    const homes = new Uint16Array(points.count);
    for (let number = 0; number < points.count; number++) {
      homes[number] = cell(points.xy[2 * number]) + CELLS * cell(points.xy[2 * number + 1]);
      this.starts[homes[number] + 1]++;
    }
    for (let at = 0; at < CELLS * CELLS; at++) this.starts[at + 1] += this.starts[at];
    const next = this.starts.slice();
    for (let number = 0; number < points.count; number++) this.order[next[homes[number]]++] = number;
  }

  /**
   * The nearest point to a place within a distance, of those that `fits`; -1 for none.
   * @param {number} x @param {number} y @param {number} distance @param {(number: number) => boolean} fits
   */
  nearest(x, y, distance, fits) {
    let found = -1;
    let least = distance * distance;
    this.each(x - distance, y - distance, x + distance, y + distance, (number) => {
      const apart = (this.points.xy[2 * number] - x) ** 2 + (this.points.xy[2 * number + 1] - y) ** 2;
      if (apart <= least && fits(number)) {
        least = apart;
        found = number;
      }
    });
    return found;
  }

  /** Call a function with each point in a rectangle. @param {number} left @param {number} bottom @param {number} right @param {number} top @param {(number: number) => void} visit */
  each(left, bottom, right, top, visit) {
    const { xy } = this.points;
    for (let row = cell(bottom); row <= cell(top); row++) {
      for (let at = this.starts[cell(left) + CELLS * row]; at < this.starts[cell(right) + CELLS * row + 1]; at++) {
        const number = this.order[at];
        const x = xy[2 * number];
        const y = xy[2 * number + 1];
        if (x >= left && x <= right && y >= bottom && y <= top) visit(number);
      }
    }
  }
}

/** @param {number} value from -1 to 1 */
function cell(value) {
  return Math.min(Math.max(Math.floor(((value + 1) / 2) * CELLS), 0), CELLS - 1);
}

// Which part of the map is seen

const MARGIN = 1.06; // around all points
const CLOSEST = 400; // times as near as where all is seen

/** The middle of what is seen, and how many pixels a unit has. Pixels are those of CSS. */
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
