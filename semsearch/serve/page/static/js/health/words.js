// @ts-check
/** Numbers as people read them. */

/** @param {number} bytes */
export function size(bytes) {
  for (const unit of ["bytes", "kB", "MB"]) {
    if (bytes < 1000) return `${unit === "bytes" || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${unit}`;
    bytes /= 1000;
  }
  return `${bytes.toFixed(1)} GB`;
}

/** @param {number} number @param {string} noun */
export function counted(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}
