"""How long the app takes to answer a click, against a page with one line of text measured in the same run.

    .venv/bin/python -m benchmarks.answer

Each time is from the click to the new text in the page, as a script in a real
browser sees it: a median over 20 clicks. Only the ratios carry over to another
machine. A cell is picked once the pointer has been in its picture for a while;
"its charts" are told by the server, what stands under the picture is not.
"""

import contextlib
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator

from playwright.sync_api import Page, sync_playwright

CLICKS = 20
TOLD = ".answer"
CHARTS = ".js-plotly-plot"
SIXTEEN_WORDS = "&sentence=" + "+".join(f"w{i}" for i in range(16))
TWENTY_WORDS = "&sentence=" + "+".join(f"w{i}" for i in range(20))
CASES = {
    "another cell: scores, 6 x 6": ("cell", "?step=Scores", TOLD),
    "another cell: Q, K and V, three 8 x 8": ("cell", "?step=Q%2C+K%2C+V", TOLD),
    "another cell: Q, K and V of 16 words, three 16 x 16": (
        "cell",
        "?step=Q%2C+K%2C+V&d_model=16&heads=1" + SIXTEEN_WORDS,
        TOLD,
    ),
    "another cell: softmax": ("cell", "?step=Softmax", TOLD),
    "another cell: softmax, its charts": ("cell", "?step=Softmax", CHARTS),
    "another cell: output": ("cell", "?step=Output", TOLD),
    "another cell: whole pass": ("cell", "?step=Whole+pass", TOLD),
    "another cell: too much to send beforehand": ("cell", "?step=Whole+pass&d_model=16&heads=1" + SIXTEEN_WORDS, TOLD),
    "unfold a term, and go back": ("term", "take_apart", TOLD),
    "another seed: scores, 6 x 6": ("seed", "?step=Scores", TOLD),
    "another seed: whole pass": ("seed", "?step=Whole+pass", TOLD),
    "another seed: scores of 20 words, heatmaps": ("seed", "?step=Scores" + TWENTY_WORDS, CHARTS),
}
WATCH = """async ([clicked, watched]) => {
  const roots = [document, ...[...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? [])];
  const all = (what) => roots.flatMap((root) => [...root.querySelectorAll(what)]);
  const target = all(clicked).at(-1);
  const read = () => all(watched).map((each) => each.textContent + (each._fullLayout ? each.innerHTML : "")).join();
  const before = read();
  const started = performance.now();
  target.click();
  while (read() === before) {
    if (performance.now() - started > 10_000) throw new Error(`no answer to a click on ${clicked}`);
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - started;
}"""
IDLE = """() => document.querySelector('[data-testid="stApp"]').dataset.testScriptState === "notRunning"
  && !document.querySelector('[data-stale="true"]')"""


@contextlib.contextmanager
def served(script: str) -> Iterator[str]:
    """A Streamlit script on a free port of this machine; yields its address."""
    with contextlib.closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    options = ["--server.port", port, "--server.address", "127.0.0.1", "--server.headless", "true"]
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health"):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.terminate()
        server.wait()


def median_ms(page: Page, clicked: Callable[[int], str], watched: str) -> float:
    """The median time of clicks, on what `clicked(number)` selects, until the text of what is `watched` is another."""
    times = []
    for number in range(CLICKS + 4):
        times.append(page.evaluate(WATCH, [clicked(number), watched]))
        page.wait_for_timeout(200)  # more than an answer takes, and a person no less between two clicks
        page.wait_for_function(IDLE)
    return statistics.median(times[4:])


def another(what: str) -> Callable[[int], str]:
    """Selects another cell, the first term and then the first of the trail, or the button for another seed."""
    if what == "cell":
        return lambda n: f'[role="grid"] [data-row="{n % 4 + 2}"][data-column="{(n // 4 + n + 1) % 4}"]'
    if what == "term":
        return lambda n: ".trail .link:first-child" if n % 2 else ".terms tr:first-child .link:first-child"
    return lambda n: ".st-key-another_seed button"


def main() -> None:
    """Print the table."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        with served("benchmarks/line.py") as address:
            page.goto(address)
            page.get_by_text("answer 0").wait_for()
            page.get_by_role("button", name="Next").wait_for()
            page.wait_for_function(IDLE)
            base = median_ms(page, lambda n: '[data-testid="stButton"] button', '[data-testid="stText"]')
        print(f"{'one line of text':<55} {base:6.0f} ms   1.0")
        with served("app.py") as address:
            for name, (what, query, watched) in CASES.items():
                page.goto(address + query)
                page.locator(watched).last.wait_for(state="attached")
                page.wait_for_function(IDLE)
                if what == "cell":
                    for number in range(8):
                        page.locator("[data-row]").nth(number).hover()
                        page.wait_for_timeout(200)
                taken = median_ms(page, another(what), watched)
                print(f"{name:<55} {taken:6.0f} ms   {taken / base:.1f}")
        browser.close()


if __name__ == "__main__":
    main()
