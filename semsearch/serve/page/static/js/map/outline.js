// @ts-check
/** An outline on the map: the points inside it. */

/** @typedef {[number, number]} Corner */

/** Whether a place is inside an outline: a ray from it crosses the outline an odd number of times. @param {number} x @param {number} y @param {Corner[]} corners */
export function isInside(x, y, corners) {
  let inside = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [ax, ay] = corners[at];
    const [bx, by] = corners[before];
    if (ay > y !== by > y && x < ax + ((y - ay) * (bx - ax)) / (by - ay)) inside = !inside;
  }
  return inside;
}

/** The points inside an outline, of those that `fits`. @param {import("./grid.js").Grid} grid @param {Corner[]} corners @param {(number: number) => boolean} fits @returns {number[]} */
export function pointsWithin(grid, corners, fits) {
  if (corners.length < 3) return [];
  const xs = corners.map(([x]) => x);
  const ys = corners.map(([, y]) => y);
  /** @type {number[]} */
  const found = [];
  grid.each(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), (number) => {
    const { xy } = grid.points;
    if (fits(number) && isInside(xy[2 * number], xy[2 * number + 1], corners)) found.push(number);
  });
  return found.sort((one, other) => one - other);
}
