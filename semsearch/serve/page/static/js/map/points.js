// @ts-check
/** The points of a map, read from the bytes of /v1/map/points (docs/developers/server.md has their order). */

const HEAD = 16;

/**
 * @typedef {object} Points
 * @property {number} count
 * @property {number} generation of the index
 * @property {Float64Array} ids of the passages, rising
 * @property {Float32Array} xy x and y of each, from -1 to 1, y upwards
 * @property {Uint8Array[]} groups of each point: by folder, by type, by document
 */

/** @param {ArrayBuffer} bytes @returns {Points} */
export function readPoints(bytes) {
  if (new TextDecoder().decode(bytes.slice(0, 8)) !== "semmap 1") throw new Error("The server's map is of another version; reload the page.");
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
