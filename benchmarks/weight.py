"""How many bytes a first visit to each page takes, and how long until its first picture, with an empty cache.

    .venv/bin/python -m benchmarks.weight [ADDRESS [KB_PER_SECOND]]

Without an address it starts a server of its own. Bytes are those that came over the network, and those if all text were
gzipped. The last column is at the given speed.
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
COMPRESSED = (".woff2", ".png", ".ico")
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


def first_ms(browser: Browser, address: str, picture: str, bytes_per_second: float = -1) -> float:
    """How long after it starts to load a page has its first picture."""
    page = browser.new_page(viewport=SIZE)
    network = {"offline": False, "latency": 0, "uploadThroughput": -1, "downloadThroughput": bytes_per_second}
    page.context.new_cdp_session(page).send("Network.emulateNetworkConditions", network)
    page.goto(address, wait_until="commit", timeout=0)
    taken = page.evaluate(PICTURED, picture)
    page.close()
    return taken


def weight(browser: Browser, address: str) -> tuple[int, int, bool]:
    """The bytes of a first visit as received and gzipped, and whether Plotly's script was among them."""
    page = browser.new_page(viewport=SIZE)
    responses, frames = [], []
    page.on("response", lambda response: responses.append(response))
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(len(frame))))
    page.goto(address)
    page.wait_for_function(IDLE)
    page.wait_for_load_state("networkidle")
    received, gzipped = sum(frames), sum(frames)
    for response in responses:
        with contextlib.suppress(Exception):  # a redirect has no body
            body = response.body()
            received += response.request.sizes()["responseBodySize"]
            gzipped += len(body if response.url.endswith(COMPRESSED) else gzip.compress(body))
    page.close()
    return received, gzipped, any(PLOTLY in response.url for response in responses)


def main() -> int:
    """Print the table; 1 if a page weighs more than its limit."""
    site, speed = [*sys.argv, "", ""][1:3]
    heaviest = 0
    with contextlib.ExitStack() as stack:
        browser = stack.enter_context(browsing())
        address = site.rstrip("/") or stack.enter_context(served("app.py"))[0]
        for name, (path, picture) in PAGES.items():
            visited = f"{address}/{path}"
            received, gzipped, has_plotly = weight(browser, visited)
            heaviest = max(heaviest, gzipped)
            taken = statistics.median(first_ms(browser, visited, picture) for _ in range(VISITS))
            slow = f"{first_ms(browser, visited, picture, 1000 * float(speed)) / 1000:.0f} s" if speed else ""
            sizes = f"{received / 1e6:.2f} MB | {gzipped / 1e6:.2f} MB | {'Plotly' if has_plotly else ''}"
            print(f"| {name} | {sizes} | {taken:.0f} ms | {slow} |", flush=True)
    return 0 if heaviest <= MAX_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
