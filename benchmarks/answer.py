"""How long the app takes to answer a click, against a page with one line of text measured in the same run.

    .venv/bin/python -m benchmarks.answer

Each time is from the click to the new text on the screen, in a real browser,
a median over 20 clicks. Only the ratios carry over to another machine.
"""

import contextlib
import json
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator

from playwright.sync_api import Page, sync_playwright

CLICKS = 20
TWENTY_WORDS = "&sentence=" + "+".join(f"w{i}" for i in range(20))
CASES = {
    "another cell: scores, 6 x 6": ("cell", "?step=Scores"),
    "another cell: Q, K and V, three 8 x 8": ("cell", "?step=Q%2C+K%2C+V"),
    "another cell: softmax with two charts": ("cell", "?step=Softmax"),
    "another cell: output with a chart": ("cell", "?step=Output"),
    "unfold a term, and go back": ("term", "take_apart"),
    "another seed: scores, 6 x 6": ("seed", "?step=Scores"),
    "another seed: whole pass": ("seed", "?step=Whole+pass"),
    "another seed: scores of 20 words, heatmaps": ("seed", "?step=Scores" + TWENTY_WORDS),
}


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


def median_ms(click: Callable[[int], str], page: Page) -> float:
    """The median time of clicks, each of which returns JavaScript that is true once it has been answered."""
    times = []
    for number in range(CLICKS + 2):
        started = time.perf_counter()
        answered = click(number)
        page.wait_for_function(answered, polling="raf")
        times.append(time.perf_counter() - started)
    return 1000 * statistics.median(times[2:])


def one_line(page: Page) -> Callable[[int], str]:
    """Click the button of the page with one line."""

    def click(number: int) -> str:
        page.get_by_role("button", name="Next").click()
        return f"() => document.body.innerText.includes('answer {number + 1}')"

    return click


BREAKDOWN = (
    "[...document.querySelectorAll('.st-key-breakdowns *, .st-key-trail *')]"
    ".map(e => e.shadowRoot?.textContent).join('')"
)


def another(what: str, page: Page) -> Callable[[int], str]:
    """Pick another cell or another seed, and wait for the breakdown of the cell to tell other numbers."""

    def click(number: int) -> str:
        before = page.evaluate(BREAKDOWN)
        if what == "cell":
            row, column = number % 2, number % 3
            page.locator('.st-key-picture [role="grid"]').last.locator(
                f'[data-row="{row}"][data-column="{column}"]'
            ).click()
        elif what == "term":
            page.locator(".st-key-trail .trail .link" if number % 2 else ".st-key-trail .terms .link").first.click()
        else:
            page.locator(".st-key-another_seed button").first.click()
        return f"() => {BREAKDOWN} !== {json.dumps(before)}"

    return click


def main() -> None:
    """Print the table."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        with served("benchmarks/line.py") as address:
            page.goto(address)
            page.get_by_text("answer 0").wait_for()
            base = median_ms(one_line(page), page)
        print(f"{'one line of text':<45} {base:6.0f} ms   1.0")
        with served("app.py") as address:
            for name, (what, query) in CASES.items():
                page.goto(address + query)
                page.wait_for_function(f"() => {BREAKDOWN}")
                taken = median_ms(another(what, page), page)
                print(f"{name:<45} {taken:6.0f} ms   {taken / base:.1f}")
        browser.close()


if __name__ == "__main__":
    main()
