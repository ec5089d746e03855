// @ts-check
/** Numbers rounded so that what is shown adds up. */

export const DIGITS = 3;
const UNIT = 10 ** DIGITS;

/**
 * Parts rounded to the digits that are shown, in units of the last one, so that they add up to the rounded sum: of what
 * is missing, each unit goes to the part that is furthest below its exact value. Each is less than one unit off.
 * @param {number[]} parts @param {number} sum in units
 */
export function apportioned(parts, sum) {
  const exact = parts.map((part) => part * UNIT);
  const given = exact.map(Math.floor);
  const missing = sum - given.reduce((total, each) => total + each, 0);
  const order = exact.map((_, at) => at).sort((one, other) => exact[other] - given[other] - (exact[one] - given[one]) || one - other);
  const step = Math.sign(missing);
  if (step < 0) order.reverse();
  for (let turn = 0; turn < Math.abs(missing) && order.length; turn++) given[order[turn % order.length]] += step;
  return given;
}

/** A number in units of the last digit that is shown. @param {number} value */
export function inUnits(value) {
  return Math.round(Number(value.toFixed(DIGITS)) * UNIT);
}

/** Units as a number with its digits: a minus sign as in print. @param {number} units */
export function shown(units) {
  return (units / UNIT).toFixed(DIGITS).replace("-", "−");
}
