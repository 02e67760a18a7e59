"""How even frames are while a picture moves or is dragged, compared with one box that moves on an empty page.

    .venv/bin/python -m benchmarks.frames [ADDRESS]

Each action is traced as DevTools does it. What counts are the times between drawn frames while one animation frame
requests the next. Both pages take turns, so that they are measured at the same load of the machine.
"""

import contextlib
import itertools
import os
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from playwright.sync_api import Page
from server import served

from benchmarks.latency import IDLE, PICTURED, SIZE, browsing

ROUNDS, WARM = 3, 1  # timed, and before them
MAX_TIMES = 1.1  # the box's median and 95 % of frames
PAUSE_US = 50_000  # between two motions
CATEGORIES = "-*,devtools.timeline,disabled-by-default-devtools.timeline.frame,blink.user_timing"
BOX = """<body><div class="box" style="width: 60px; height: 60px; background: #6f3fb5"></div><script>
  const box = document.querySelector(".box"), put = x => { box.style.transform = `translateX(${x}px)`; };
  onkeydown = ({ timeStamp }) => {
    const step = now => {
      const part = Math.min(1, Math.max(0, now - timeStamp) / 400);
      put(200 * part);
      if (part < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  };
</script></body>"""
# without animation frames, which would count as motion
AT_REST = """async () => {
  const roots = () => [document, ...[...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? [])];
  for (let calm = 0; calm < 24; calm = roots().some((root) => root.querySelector(".moving, .running")) ? 0 : calm + 1)
    await new Promise((done) => setTimeout(done, 50));
}"""
# by events of our own, as a real mouse has them late on a busy machine; such a pointer can't be captured
DRAG = """async (element, by) => {
  Object.assign(Element.prototype, { setPointerCapture() {}, hasPointerCapture: () => true });
  const box = element.getBoundingClientRect(), [x, clientY] = [box.x + box.width / 2, box.y + box.height / 2];
  const point = (type, part) => element.dispatchEvent(
    new PointerEvent(type, { bubbles: true, composed: true, clientX: x + part * by, clientY }));
  point("pointerdown", 0);
  for (let move = 1; move <= 60; move += 1) {
    await new Promise(requestAnimationFrame);
    point("pointermove", move / 60);
  }
  element.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  point("pointerup", 1);
  point("lostpointercapture", 1);
}"""
Act = Callable[[Page], object]


class Case(NamedTuple):
    """A motion on a page of the app, and the way back."""

    name: str
    address: str
    act: Act
    back: Act = lambda page: None


def press(key: str) -> Act:
    """Press a key."""
    return lambda page: page.keyboard.press(key)


def drag(selector: str, by: int) -> Act:
    """Drag an element, one move per frame, and let go."""
    return lambda page: page.locator(selector).first.evaluate(DRAG, by)


def play(name: str) -> Act:
    """Press a button."""
    return lambda page: page.get_by_role("button", name=name, exact=True).last.click()


BASE = Case("a box", "", press("a"))
GRIP, DOT = ".learns .grip", ".score-to-weight .dot[role]"
CASES = [
    Case("step: scores to scaling", "view=sheet&step=scores", press("PageDown"), press("PageUp")),
    Case("step: scaling to softmax", "view=sheet&step=scaling", press("PageDown"), press("PageUp")),
    Case("step: softmax to weighted sum", "view=sheet&step=softmax", press("PageDown"), press("PageUp")),
    Case("It learns: Play", "model=who-is-it", play("Play the training")),
    Case("It learns: grip", "model=who-is-it", drag(GRIP, -400), drag(GRIP, 400)),
    Case("from score to weight: dot", "view=sheet&step=softmax", drag(DOT, 80)),
    Case("collecting values: Replay", "view=sheet&step=weighted-sum", play("▶ Replay")),
]


@contextlib.contextmanager
def traced(page: Page) -> Iterator[list[Mapping[str, Any]]]:
    """The trace events of a page, complete at the end of the block."""
    session = page.context.new_cdp_session(page)
    events: list[Mapping[str, Any]] = []
    ended: list[object] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", lambda end: ended.append(end))
    session.send("Tracing.start", {"categories": CATEGORIES, "transferMode": "ReportEvents"})
    yield events
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(20)
    session.detach()


def frames_ms(page: Page, case: Case) -> list[float]:
    """The times between the frames drawn while something moves: once, and back."""
    with traced(page) as events:
        page.evaluate("performance.mark('begun')")
        case.act(page)
        page.evaluate(AT_REST)
    case.back(page)
    page.evaluate(AT_REST)
    pid = next(each["pid"] for each in events if each["name"] == "begun")
    own = sorted((each for each in events if each["pid"] == pid), key=lambda each: each["ts"])
    drawn = [each["ts"] for each in own if each["name"] == "DrawFrame"]
    motions, pairs = [*_motions(own)], itertools.pairwise(drawn)
    return [(b - a) / 1000 for a, b in pairs if any(first <= a and b <= last for first, last in motions)]


def _motions(events: list[Mapping[str, Any]]) -> Iterator[tuple[float, float]]:
    """The times of the first and last of the animation frames that follow each other."""
    fired = [each["ts"] for each in events if each["name"] == "FireAnimationFrame"]
    starts = [ts for before, ts in zip([0, *fired], fired, strict=False) if ts - before > PAUSE_US]
    for first, after in zip(starts, [*starts[1:], float("inf")], strict=True):
        yield first, max(ts for ts in fired if ts < after)


def summary(gaps: list[float]) -> tuple[float, float, float]:
    """The median, 95 % and worst."""
    return statistics.median(gaps), sorted(gaps)[int(0.95 * len(gaps))], max(gaps)


def main() -> int:
    """Print the table; 1 if some frames are later than the aim."""
    is_within = True
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(browsing())
        address = sys.argv[1].rstrip("/") if sys.argv[1:] else stack.enter_context(served("app.py"))[0]
        box, page = (browser.new_context(viewport=SIZE).new_page() for _ in range(2))  # both windows are visible
        box.set_content(BOX)
        for case in CASES:
            page.goto(f"{address}/walkthrough?{case.address}")
            page.evaluate(PICTURED, ".viewer .way")
            page.wait_for_function(IDLE)
            page.evaluate(AT_REST)
            base: list[float] = []
            own: list[float] = []
            for number in range(ROUNDS + WARM):
                for gaps, at, what in ((base, box, BASE), (own, page, case)):
                    found = frames_ms(at, what)
                    gaps += found if number >= WARM else []
            (median, most, worst), of_box = summary(own), summary(base)
            is_within &= median <= MAX_TIMES * of_box[0] and most <= MAX_TIMES * of_box[1]
            print(
                f"| {case.name} | {len(own)} | {median:.1f}, {most:.1f}, {worst:.0f} ms "
                f"| {of_box[0]:.1f}, {of_box[1]:.1f}, {of_box[2]:.0f} ms "
                f"| {median / of_box[0]:.2f}, {most / of_box[1]:.2f} | {os.getloadavg()[0]:.1f} |",
                flush=True,
            )
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
