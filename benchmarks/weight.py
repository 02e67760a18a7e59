"""What a first visit takes, with an empty cache: bytes over the network, and the time until something can be done.

    .venv/bin/python -m benchmarks.weight [ADDRESS ...]

Without an address it starts a server of its own; servers of several commits are visited in turns. First the lessons on
a phone with a slow link (1.6 Mbps, 150 ms): bytes until the first answer is possible and in all, first contentful paint
by the browser's own entry, the frame that shows the first sentence, and the one in which it can be answered: medians.
Then the bytes of every page, and the time to its first picture on this machine.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
from typing import NamedTuple

import largest
from playwright.sync_api import Browser, Request
from server import served

from benchmarks.latency import IDLE, PICTURE, PICTURED, SIZE, TOOLS, browsing
from benchmarks.room import SLOW_LINK

VISITS = 5
MAX_MB, MAX_FIRST_MB, MAX_SENTENCE_SECONDS, MAX_ANSWER_SECONDS = 3, 1, 2, 8
PHONE = {"width": 390, "height": 844}
LARGE = "walkthrough?" + largest.query(step="scores", context="", heads="8")
# the address of each page, and what is its first picture
PAGES = {
    "lessons": ("", ".lesson-page .choices button"),
    "walkthrough": ("walkthrough", PICTURE.replace("[role=grid]", "canvas")),
    "walkthrough, scores": ("walkthrough?step=scores", PICTURE),
    "walkthrough, 64 words, d_model 128, 8 heads": (LARGE, PICTURE),
    "worked examples": ("worked_examples", "h1"),
    "built by hand": ("by_hand", ".article .matrix"),
    "what attention doesn't say": ("what_attention_says", ".js-plotly-plot"),
    "audit": ("audit", ".audit td"),
    "the same in NumPy": ("numpy_code", "pre"),
}
# notes the times of frames after those that show the sentence and its answers, wherever they are drawn
WATCH = f"""(() => {{
  {TOOLS}
  const isShown = (each) => each.checkVisibility() && each.getBoundingClientRect().height > 0;
  const at = async (what, has) => {{
    while (!all(what).some((each) => isShown(each) && each.textContent.includes(has))) await frame();
    await frame();
    return performance.now();
  }};
  window.sentence = at("p", "The animal did not cross the street");
  window.answer = at(".choices button:enabled", "animal");
}})()"""
PAINT = 'performance.getEntriesByName("first-contentful-paint")[0].startTime'


class Visit(NamedTuple):
    """A first visit to the lessons."""

    mb_to_answer: float
    mb: float
    paint: float  # seconds
    sentence: float
    answer: float


def first_visit(browser: Browser, address: str) -> Visit:
    """A phone's first visit with a slow link."""
    page = browser.new_page(viewport=PHONE)
    network = page.context.new_cdp_session(page)
    sizes: list[int] = []
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: sizes.append(len(frame))))
    network.send("Network.enable")
    network.send("Network.emulateNetworkConditions", SLOW_LINK)
    page.add_init_script(WATCH)
    page.goto(address, wait_until="commit", timeout=0)
    sentence, answer = (page.evaluate(f"window.{name}") / 1000 for name in ("sentence", "answer"))
    to_answer = sum(sizes)
    page.wait_for_load_state("networkidle")
    visit = Visit(to_answer / 1e6, sum(sizes) / 1e6, page.evaluate(PAINT) / 1000, sentence, answer)
    page.close()
    return visit


def picture_ms(browser: Browser, address: str, picture: str) -> float:
    """How long after it starts to load a page has its first picture."""
    page = browser.new_page(viewport=SIZE)
    page.goto(address, wait_until="commit", timeout=0)
    taken = page.evaluate(PICTURED, picture)
    page.close()
    return taken


def weight(browser: Browser, address: str) -> float:
    """The megabytes of a first visit."""
    page = browser.new_page(viewport=SIZE)
    requests: list[Request] = []
    frames: list[int] = []
    page.on("requestfinished", lambda request: requests.append(request))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(len(frame))))
    page.goto(address)
    page.wait_for_function(IDLE)
    page.wait_for_load_state("networkidle")
    n_bytes = sum(frames) + sum(each.sizes()["responseBodySize"] for each in requests)
    page.close()
    return n_bytes / 1e6


def first_visits(browser: Browser, addresses: list[str]) -> dict[str, Visit]:
    """The medians of visits to each address, in turns."""
    rounds = [[first_visit(browser, each) for each in addresses] for _ in range(VISITS)]
    return {
        address: Visit(*map(statistics.median, zip(*visits, strict=True)))
        for address, visits in zip(addresses, zip(*rounds, strict=True), strict=True)
    }


def main() -> int:
    """Print the tables of all addresses; 1 if the last one is beyond an aim."""
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(browsing())
        addresses = [each.rstrip("/") for each in sys.argv[1:]] or [stack.enter_context(served("app.py"))[0]]
        print("| a phone's first visit | MB to the answer | MB | first paint | sentence | answer |")
        print("| --- | --: | --: | --: | --: | --: |")
        for address, visit in first_visits(browser, addresses).items():
            seconds = " | ".join(f"{each:.1f} s" for each in visit[2:])
            print(f"| {address} | {visit.mb_to_answer:.2f} | {visit.mb:.2f} | {seconds} |", flush=True)
        is_beyond = [visit.mb > MAX_FIRST_MB, visit.sentence > MAX_SENTENCE_SECONDS, visit.answer > MAX_ANSWER_SECONDS]
        print("\n| page | server | MB | first picture |\n| --- | --- | --: | --: |")
        for name, (path, picture) in PAGES.items():
            for address in addresses:
                mb = weight(browser, f"{address}/{path}")
                taken = statistics.median(picture_ms(browser, f"{address}/{path}", picture) for _ in range(VISITS))
                print(f"| {name} | {address} | {mb:.2f} | {taken:.0f} ms |", flush=True)
            is_beyond.append(mb > MAX_MB)
    return int(any(is_beyond))


if __name__ == "__main__":
    sys.exit(main())
