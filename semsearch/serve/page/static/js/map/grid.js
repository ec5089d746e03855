// @ts-check
/** Points sorted into the cells of a grid, so that those near a place are found without looking at all. */

/** @typedef {import("./points.js").Points} Points */

const CELLS = 128; // in each direction

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
