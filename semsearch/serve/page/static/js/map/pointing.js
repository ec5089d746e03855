// @ts-check
/** Pointers, wheel and fingers on the map: drag to move, wheel or two fingers to look closer, or draw an outline. */

/**
 * @typedef {object} Pointing
 * @property {() => boolean} draws whether dragging draws an outline
 * @property {(dx: number, dy: number) => void} pan
 * @property {(factor: number, x: number, y: number) => void} closer
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} left the pointer has left
 * @property {(x: number, y: number) => void} click
 * @property {(x: number, y: number, isFirst: boolean) => void} draw
 * @property {() => void} drawn
 */

const STILL = 4; // pixels that a click may move

/** Listen on a canvas. @param {HTMLElement} target @param {Pointing} does */
export function listenToPointers(target, does) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  let moved = 0;
  let isDrawing = false;

  target.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    target.setPointerCapture(event.pointerId);
    down.set(event.pointerId, placeOf(event));
    moved = 0;
    isDrawing = does.draws() && down.size === 1;
    if (isDrawing) does.draw(...pair(placeOf(event)), true);
  });

  target.addEventListener("pointermove", (event) => {
    const now = placeOf(event);
    const before = down.get(event.pointerId);
    if (!before) return does.hover(now.x, now.y);
    moved += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (isDrawing && down.size === 1) does.draw(now.x, now.y, false);
    else if (down.size === 1) does.pan(now.x - before.x, now.y - before.y);
    else pinch(event.pointerId, before, now);
    down.set(event.pointerId, now);
  });

  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    target.addEventListener(name, (event) => {
      if (!down.delete(event.pointerId)) return;
      if (isDrawing) does.drawn();
      else if (name === "pointerup" && moved < STILL) does.click(...pair(placeOf(event)));
      isDrawing = false;
    });
  }

  target.addEventListener("pointerleave", () => does.left());
  target.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      does.closer(Math.exp(-event.deltaY * lines * 0.0016), ...pair(placeOf(event)));
    },
    { passive: false },
  );

  /** @param {PointerEvent | WheelEvent} event */
  function placeOf(event) {
    const box = target.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  /** Two fingers: the map follows them. @param {number} finger @param {{x: number, y: number}} before @param {{x: number, y: number}} now */
  function pinch(finger, before, now) {
    const other = [...down].find(([id]) => id !== finger)?.[1];
    if (!other) return;
    const factor = Math.hypot(now.x - other.x, now.y - other.y) / Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1);
    does.closer(factor, (now.x + other.x) / 2, (now.y + other.y) / 2);
    does.pan((now.x - before.x) / 2, (now.y - before.y) / 2);
  }
}

/** @param {{x: number, y: number}} place @returns {[number, number]} */
function pair({ x, y }) {
  return [x, y];
}
