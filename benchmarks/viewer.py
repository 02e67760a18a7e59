"""How long the viewer takes to show something else, beside a page with one line of text measured in the same run.

    .venv/bin/python -m benchmarks.viewer

Each time is measured inside the page, in a real browser: from the event to the
frame after the one that shows the change, a median over 20. The messages are
those that the page sends to the server meanwhile: none, where no run of the
script is needed. Only the ratios carry over to another machine.
"""

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator

from playwright.sync_api import Page, sync_playwright

ROUNDS = 20
LARGE = "sentence=" + "+".join(f"w{i}" for i in range(64)) + "&d_model=128&heads=8"
SIXTEEN = "sentence=" + "+".join(f"w{i}" for i in range(16)) + "&d_model=16"
IDLE = """() => document.querySelector('[data-testid="stApp"]').dataset.testScriptState === "notRunning"
  && !document.querySelector('[data-stale="true"]')"""
# what finds elements in shadow roots too, and waits for the frame after the one that shows a change
TOOLS = """
  const roots = () => [document, ...[...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? [])];
  const all = (what) => roots().flatMap((root) => [...root.querySelectorAll(what)]);
  const frame = () => new Promise(requestAnimationFrame);
"""
CLICKED = f"""async ([what, watched, back]) => {{
  {TOOLS}
  const target = all(what).at(-1);
  const read = () => all(watched).map((each) => each.textContent).join();
  const before = read(), started = performance.now();
  const key = back ? "ArrowLeft" : "ArrowRight";
  if (target.type === "range") target.dispatchEvent(new KeyboardEvent("keydown", {{ key }}));
  else target.click();
  while (read() === before) {{
    if (performance.now() - started > 10_000) throw new Error(`nothing changed after a click on ${{what}}`);
    await frame();
  }}
  await frame();
  return performance.now() - started;
}}"""
PICTURED = f"""async () => {{
  {TOOLS}
  while (!all(".viewer [role=grid]").length) await frame();
  await frame();
  return performance.now();
}}"""


@contextlib.contextmanager
def served(script: str) -> Iterator[tuple[str, int]]:
    """A Streamlit script on a free port of this machine; yields its address and its process id."""
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
        yield f"http://127.0.0.1:{port}/", server.pid
    finally:
        server.terminate()
        server.wait()


def processor_ms(pid: int) -> float:
    """The processor time that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def median_ms(page: Page, clicked: Callable[[int], str], watched: str) -> float:
    """The median time of clicks, on what `clicked(number)` selects, until what is `watched` has another text.

    A slider is moved back and forth.
    """
    times = []
    for number in range(ROUNDS + 4):
        times.append(page.evaluate(CLICKED, [clicked(number), watched, number % 2 == 0]))
        page.wait_for_timeout(100)  # a person needs no less between two clicks
        page.wait_for_function(IDLE)
    return statistics.median(times[4:])


def cell(number: int) -> str:
    """Another cell of the last matrix than the one before."""
    return f'[role="grid"] [data-row="{number % 4 + 2}"][data-column="{(number // 4 + number + 1) % 4}"]'


CASES = {
    "another cell: scores": ("step=scores", cell, ".story"),
    "another cell: Q, K, V": ("step=qkv", cell, ".story"),
    "another cell: Q, K, V, 16 words, d_model 16": (f"step=qkv&heads=4&{SIXTEEN}", cell, ".story"),
    "another cell: softmax": ("step=softmax", cell, ".story"),
    "another head: softmax": ("step=softmax", lambda n: f".heads button:nth-child({(n + 1) % 2 + 1})", ".story"),
    "another step": ("step=scores", lambda n: f".map [data-step={'softmax' if n % 2 else 'qkv'}]", "h2"),
    "a term unfolded, and back": (
        "step=output",
        lambda n: ".trail .link:first-child" if n % 2 else ".terms .link",
        ".trail",
    ),
}

"""What is shown without a run of the script."""

RUNS = {
    "another seed: scores": ("step=scores", lambda n: ".st-key-another_seed button", ".story"),
    "another checkpoint: who-is-it, softmax": (
        "model=who-is-it&step=softmax",
        lambda n: ".training input",
        ".training .figures",
    ),
    "another checkpoint: recall, softmax of layer 2": (
        "model=recall&step=softmax-2",
        lambda n: ".training input",
        ".training .figures",
    ),
}
"""What is shown by one."""


def main() -> None:
    """Print the table."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        messages: list[object] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda sent: messages.append(sent)))
        with served("benchmarks/line.py") as (address, _):
            page.goto(address)
            page.get_by_text("answer 0").wait_for()
            page.wait_for_function(IDLE)
            base = median_ms(page, lambda n: '[data-testid="stButton"] button', '[data-testid="stText"]')
        print(f"{'one line of text':<50} {base:7.1f} ms  1.0")
        with served("app.py") as (address, pid):
            for name, (query, clicked, watched) in CASES.items():
                visit(page, f"{address}?{query}")
                messages.clear()
                taken = median_ms(page, clicked, watched)
                print(f"{name:<50} {taken:7.1f} ms  {taken / base:.1f}  {len(messages)} messages")
            for name, (query, clicked, watched) in RUNS.items():
                visit(page, f"{address}?{query}")
                before = processor_ms(pid)
                taken = median_ms(page, clicked, watched)
                each = (processor_ms(pid) - before) / (ROUNDS + 4)
                print(f"{name:<50} {taken:7.1f} ms  {taken / base:.1f}  {each:.0f} ms of the server's processor")
            first = [pictured(browser, f"{address}?step=scores&{query}") for query in ("", LARGE) for _ in range(5)]
            small, large = statistics.median(first[:5]), statistics.median(first[5:])
            print(f"{'first picture: default':<50} {small:7.1f} ms")
            print(
                f"{'first picture: 64 words, d_model 128, 8 heads':<50} {large:7.1f} ms  {large / small:.1f} times that"
            )
        browser.close()


def visit(page: Page, address: str) -> None:
    """Open an address and wait until its picture is there and nothing runs."""
    page.goto(address)
    page.evaluate(PICTURED)
    page.wait_for_function(IDLE)


def pictured(browser: object, address: str) -> float:
    """How long after the beginning of its loading a page has its first picture, in ms."""
    page = browser.new_page(viewport={"width": 1366, "height": 768})
    page.goto(address, wait_until="commit")
    taken = page.evaluate(PICTURED)
    page.close()
    return taken


if __name__ == "__main__":
    main()
