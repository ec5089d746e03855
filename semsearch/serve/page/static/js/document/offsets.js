// @ts-check
/** Offsets in texts: the server counts characters, JavaScript halves of those beyond 65,535. */

const BEYOND = /[\ud800-\udbff][\udc00-\udfff]/g;

/** A function from offsets in characters to offsets in this text. @param {string} text @returns {(offset: number) => number} */
export function offsetsIn(text) {
  const beyond = [...text.matchAll(BEYOND)].map(({ index }, before) => index - before); // in characters
  if (!beyond.length) return (offset) => offset;
  return (offset) => offset + countBelow(beyond, offset);
}

/** How many of rising numbers are below one. @param {number[]} numbers @param {number} one */
function countBelow(numbers, one) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < one) low = middle + 1;
    else high = middle;
  }
  return low;
}
