"""A tab of a real browser: how long it takes from an act of a person to the frame that shows what it changed."""

import contextlib
import statistics
from collections.abc import Callable, Iterator
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

ROUNDS = 20
WARM = 4
SIZE = {"width": 1366, "height": 768}
IDLE = """() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
  && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')"""
BUSY = '.attnviz[aria-busy="true"]'
# what finds elements in shadow roots too, and waits for the frame after the one that shows a change
TOOLS = """
  const roots = () => [document, ...[...document.querySelectorAll("*")].flatMap((each) => each.shadowRoot ?? [])];
  const all = (what) => roots().flatMap((root) => [...root.querySelectorAll(what)]);
  const frame = () => new Promise(requestAnimationFrame);
  const timed = async (watched, act) => {
    const read = () => all(watched).map((each) => each.textContent).join();
    const before = read(), started = act();
    do {
      if (performance.now() - started > 10_000) throw new Error(`${watched} stayed as it was`);
      await frame();
    } while (read() === before);
    await frame();
    return performance.now() - started;
  };
"""
ACT = f"""(target, [watched, value]) => {{
  {TOOLS}
  const press = (key) => target.dispatchEvent(new KeyboardEvent("keydown", {{ key, bubbles: true }}));
  let act = () => target.click();
  if (target.type === "range") act = () => press(value);
  else if (target.localName === "select") {{
    target.selectedIndex = [...target.options].findIndex(({{ label }}) => label === value);
    act = () => target.dispatchEvent(new Event("change", {{ bubbles: true }}));
  }} else if (value !== null) {{
    target.focus();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(target, value);
    target.dispatchEvent(new Event("input", {{ bubbles: true }}));
    act = () => press("Enter");
  }}
  return timed(watched, () => {{
    const now = performance.now();
    act();
    return now;
  }});
}}"""
PICTURED = f"""async (shown) => {{
  {TOOLS}
  while (!all(shown).length) await frame();
  await frame();
  return performance.now();
}}"""
PICTURE = ".viewer [role=grid]"


@contextlib.contextmanager
def browsing() -> Iterator[Browser]:
    """Debian's Chromium, until the end of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


def visit(page: Page, address: str, shown: str = PICTURE) -> None:
    """Open an address and wait until what it shows is there and nothing runs."""
    page.goto(address)
    page.evaluate(PICTURED, shown)
    page.wait_for_function(IDLE)


class Timed(NamedTuple):
    """A page, what is done on it, and what has another text once that is shown.

    `act(number)` gives what is clicked, and None; or a box, and the words typed
    into it; or a list, and what is picked; or a slider, and a key.
    """

    page: Page
    act: Callable[[int], tuple[str, str | None]]
    watched: str


def medians_ms(*all_timed: Timed) -> list[float]:
    """The median time of the acts of each, which take turns: the machine's speed changes within seconds."""
    times: list[list[float]] = [[] for _ in all_timed]
    for number in range(ROUNDS + WARM):
        for timed, own in zip(all_timed, times, strict=True):
            own.append(_ms(timed, number))
    return [statistics.median(own[WARM:]) for own in times]


def _ms(timed: Timed, number: int) -> float:
    what, value = timed.act(number)
    taken = timed.page.locator(what).last.evaluate(ACT, [timed.watched, value])
    timed.page.wait_for_timeout(100)  # a person needs no less between two acts
    timed.page.locator(BUSY).wait_for(state="detached")
    timed.page.wait_for_function(IDLE)
    return taken
