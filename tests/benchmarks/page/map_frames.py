"""Frames a second while a map is moved, in Chromium without a graphics card.

    python tests/benchmarks/page/map_frames.py [POINTS] [SECONDS]

Makes points in clusters (100,000 unless told), gives them to the page of a server instead of those of its index, moves
the map by the pointer for some seconds (5), and prints the frames a second from the times of requestAnimationFrame.
"""

from __future__ import annotations

import struct
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "support"))
from browsing import running_browser
from playwright.sync_api import Page, Route
from serving import running
from small import small_vectors, write_articles

from semsearch.index import Index
from semsearch.server.open_indexes import OpenIndexes

MEASURE = """async seconds => {
    const times = [];
    const began = performance.now();
    await new Promise(done => {
        const tick = now => {
            times.push(now);
            const pull = name => new PointerEvent(name, {pointerId: 1, clientX: 500 + 300 * Math.sin(now / 400),
                clientY: 400 + 200 * Math.cos(now / 500), button: 0, bubbles: true});
            const screen = document.querySelector('.map-screen');
            if (times.length === 1) { screen.setPointerCapture = () => {}; screen.dispatchEvent(pull('pointerdown')); }
            else screen.dispatchEvent(pull('pointermove'));
            if (now - began < 1000 * seconds) requestAnimationFrame(tick); else done();
        };
        requestAnimationFrame(tick);
    });
    const gaps = times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other);
    return {frames: gaps.length, seconds: (times.at(-1) - times[0]) / 1000, median: gaps[gaps.length >> 1],
        slowest: gaps.at(-1), late: gaps.filter(gap => gap > 25).length};
}"""


def made_points(count: int) -> bytes:
    """As many points as the server would send them: clusters on a disc, three groupings."""
    generator = np.random.default_rng(0)
    angles, lengths = generator.uniform(0, 2 * np.pi, 400), np.sqrt(generator.uniform(0, 1, 400))
    centres = 0.9 * lengths[:, None] * np.stack((np.cos(angles), np.sin(angles)), axis=1)
    points = centres[generator.integers(0, 400, count)] + generator.normal(0, 0.02, (count, 2))
    groups = generator.integers(0, 1, (3, count), dtype=np.uint8)
    head = b"semmap 1" + struct.pack("<II", count, 1)
    ids = np.arange(count, dtype="<f8").tobytes()
    return b"".join((head, ids, np.clip(points, -1, 1).astype("<f4").tobytes(), groups.tobytes()))


def measure(page: Page, url: str, points: bytes, seconds: float) -> None:
    def give(route: Route) -> None:
        route.fulfill(body=points, content_type="application/octet-stream")

    page.route("**/v1/map/points*", give)
    page.goto(f"{url}/#/map?index=docs")
    page.get_by_role("heading", name="passages in view").wait_for(timeout=60_000)
    for zoom in (0, 4):
        for _ in range(zoom):
            page.locator(".map-screen").press("+")
        found = page.evaluate(MEASURE, seconds)
        rate = found["frames"] / found["seconds"]
        print(
            f"zoom {1.4**zoom:.1f}: {rate:.1f} frames/s, median {found['median']:.1f} ms, "
            f"slowest {found['slowest']:.0f} ms, {found['late']} of {found['frames']} later than 25 ms"
        )


def main() -> None:
    count, seconds = int((sys.argv[1:2] or ["100000"])[0]), float((sys.argv[2:3] or ["5"])[0])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_articles(folder / "docs", 12)
        with Index.create(folder / "indexes" / "docs", vectors=small_vectors(folder)) as index:
            index.sync(folder / "docs")
        with running(OpenIndexes(folder=folder / "indexes")) as asker, running_browser() as browser:
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            measure(page, asker.url, made_points(count), seconds)


if __name__ == "__main__":
    main()
