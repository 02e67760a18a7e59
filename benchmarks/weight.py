"""What a first visit weighs on every page, and how long it takes to its first picture, with nothing in the cache.

    .venv/bin/python -m benchmarks.weight [ADDRESS [KB_PER_SECOND]]

Without an address it starts a server of its own; with one it visits that, say
nginx in front of several. Bytes are those that came over the network, as they
came; "gzip" is what they are if all that is text is compressed. The last column
is at the speed that is given, in kB a second.
"""

import contextlib
import gzip
import statistics
import sys

import largest
from playwright.sync_api import Browser
from server import served

from benchmarks.latency import IDLE, PICTURE, PICTURED, SIZE, browsing

VISITS = 5
MAX_BYTES = 3_000_000
PLOTLY = "PlotlyChart"
PACKED = (".woff2", ".png", ".ico")
LARGE = "walkthrough?" + largest.query(step="scores", context="", heads="8")
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
"""The address of each page, and what is its first picture."""


def first_ms(browser: Browser, address: str, picture: str, bytes_per_second: float = -1) -> float:
    """How long after the beginning of its loading a page has its first picture."""
    page = browser.new_page(viewport=SIZE)
    network = {"offline": False, "latency": 0, "uploadThroughput": -1, "downloadThroughput": bytes_per_second}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", network)
    page.goto(address, wait_until="commit", timeout=0)
    taken = page.evaluate(PICTURED, picture)
    page.close()
    return taken


def weight(browser: Browser, address: str) -> tuple[int, int, bool]:
    """The bytes of a first visit as they came and compressed, and whether Plotly's script was among them."""
    page = browser.new_page(viewport=SIZE)
    responses, frames = [], []
    page.on("response", lambda response: responses.append(response))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(len(frame))))
    page.goto(address)
    page.wait_for_function(IDLE)
    page.wait_for_load_state("networkidle")
    came, packed = sum(frames), sum(frames)
    for response in responses:
        with contextlib.suppress(Exception):  # a redirect has no body
            body = response.body()
            came += response.request.sizes()["responseBodySize"]
            packed += len(body if response.url.endswith(PACKED) else gzip.compress(body))
    page.close()
    return came, packed, any(PLOTLY in response.url for response in responses)


def main() -> int:
    """Print the table; 1 if a page weighs more than its limit."""
    given, speed = [*sys.argv, "", ""][1:3]
    heaviest = 0
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(browsing())
        address = given.rstrip("/") or stack.enter_context(served("app.py"))[0]
        for name, (path, picture) in PAGES.items():
            visited = f"{address}/{path}"
            came, packed, with_plotly = weight(browser, visited)
            heaviest = max(heaviest, packed)
            taken = statistics.median(first_ms(browser, visited, picture) for _ in range(VISITS))
            slow = f"{first_ms(browser, visited, picture, 1000 * float(speed)) / 1000:.0f} s" if speed else ""
            script = "Plotly" if with_plotly else ""
            print(
                f"| {name} | {came / 1e6:.2f} MB | {packed / 1e6:.2f} MB | {script} | {taken:.0f} ms | {slow} |",
                flush=True,
            )
    return 0 if heaviest <= MAX_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
