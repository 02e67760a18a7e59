"""How long each page takes to show something else, compared with a page of one line of text in the same run.

    .venv/bin/python -m benchmarks.latency

Each time is measured in a real browser, from the action to the frame after the one that shows the change: a median over
20, in turns with the page of one line of text, so only the ratios carry over to another machine. The messages are those
that the page sends to the server meanwhile: none, where the browser has all that it shows.
"""

import contextlib
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright
from server import processor_ms, served

ROUNDS, WARM = 20, 4  # timed, and before them
SIZE = {"width": 1366, "height": 768}
IDLE = """() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
  && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"]')"""
BUSY = '.attnviz[aria-busy="true"]'
# finds elements in shadow roots too, and waits for the frame after the one that shows a change
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
    """A Chromium that is installed, or Playwright's, until the end of the block."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def visit(page: Page, address: str, shown: str = PICTURE) -> None:
    """Open an address and wait until what it shows is there and nothing runs."""
    page.goto(address)
    page.evaluate(PICTURED, shown)
    page.wait_for_function(IDLE)


SIXTEEN = "sentence=" + "+".join(f"w{i}" for i in range(16)) + "&d_model=16"
RANDOM, PAIR = "sentence=the+cat+sat+on+the+mat", "mask=causal&beside=mask%3D"
SHEET, LESSON, MOMENT = ".sheet tr", ".lesson-picture", ".lesson-said, .lesson-picture"
# the element used the nth time, and None to click it, or the words, option or key that it is given
Act = Callable[[int], tuple[str, str | None]]


class Case(NamedTuple):
    """Something done on a page of the app."""

    name: str
    address: str  # parameters alone are the walkthrough's
    act: Act
    watched: str = ".story"  # its text changes when the action was answered
    shown: str = PICTURE  # it is there once the page has loaded
    aim: float = 1.5  # times one line of text that it may take


def medians_ms(*cases: tuple[Page, Case]) -> list[float]:
    """The median time of each case on its page; they take turns, as the machine's speed changes within seconds."""
    times: list[list[float]] = [[] for _ in cases]
    for number in range(ROUNDS + WARM):
        for (page, case), own in zip(cases, times, strict=True):
            what, value = case.act(number)
            own.append(page.locator(what).last.evaluate(ACT, [case.watched, value]))
            page.wait_for_timeout(100)  # a person needs no less between two actions
            page.locator(BUSY).wait_for(state="detached")
            page.wait_for_function(IDLE)
    return [statistics.median(own[WARM:]) for own in times]


def click(*elements: str) -> Act:
    """Click one element after the other."""
    return lambda number: (elements[number % len(elements)], None)


def enter(what: str, *values: str) -> Act:
    """Type or pick one value after the other."""
    return lambda number: (what, values[number % len(values)])


def cell(number: int) -> tuple[str, None]:
    """Click a different cell of the last matrix each time."""
    return f'[role="grid"] [data-row="{number % 4 + 2}"][data-column="{(number // 4 + number + 1) % 4}"]', None


def moment(number: int) -> tuple[str, None]:
    """Go to the next moment of a lesson and back; the very first press shows the answer of the first."""
    on = number < 2 or number % 2
    return f'role=button[name="{"Next" if on else "Back"}"]', None


SENTENCE = 'role=textbox[name="Sentence"]'
NAME = click(*(f".sheet .names th:nth-child({n}) button" for n in range(2, 7)))
HEAD = click(".heads button:nth-child(2)", ".heads button:nth-child(1)")
STEP = click(".map [data-step=qkv]", ".map [data-step=softmax]")
UNFOLD = click(".terms .link", ".trail .link:first-child")
NOTEBOOK = click(*(f'.st-key-notebook input[value="{n:03}"]' for n in (1, 2, 3, 4, 0)))
STRING = enter(".st-key-string input", "dabcd", "abca")
SEED = click('role=button[name="Another seed"]')
WORD = enter(SENTENCE, "the cat sat on the hat", "the cat sat on the mat")
LENGTH = enter(SENTENCE, "the cat sat", "the cat sat on the mat")
MASK = enter('role=combobox[name="Mask"]', "causal", "none")
HEADS = enter('role=combobox[name="Heads"]', "4", "2")
MODEL = enter('role=combobox[name="Show"]', "Who is “it”?", "Mirror")
LETTER = enter(SENTENCE, "kay", "ka")
CHECKPOINT = enter(".training input", "ArrowLeft", "ArrowRight")
FIGURES = ".training .figures"
AUDIT, SCRIPT = ".audit tbody", ".script pre"

# what all others are compared with
LINE = Case("one line of text", "", click('[data-testid="stButton"] button'), '[data-testid="stText"]')

CASES = [
    # shown without asking the server
    Case("another cell: scores", "?step=scores", cell),
    Case("another cell: Q, K, V", "?step=qkv", cell),
    Case("another cell: Q, K, V, 16 words, d_model 16", f"?step=qkv&heads=4&{SIXTEEN}", cell),
    Case("another cell: softmax", "?step=softmax", cell),
    Case("another head: softmax", "?step=softmax", HEAD),
    Case("the sheet, another word", "?view=sheet&step=weighted-sum", NAME, ".sheet", SHEET),
    Case("the sheet, another head", f"?view=sheet&step=softmax&{RANDOM}", HEAD, ".sheet", SHEET),
    Case("a pair, another word", f"?view=sheet&step=weighted-sum&{PAIR}&{RANDOM}", NAME, ".sheet", SHEET),
    Case("the sheet, another band", "?view=sheet&step=scores", STEP, ".sheet", SHEET),
    Case("another step", "?step=scores", STEP, "h2"),
    Case("a term unfolded, and back", "?step=output", UNFOLD, ".trail"),
    Case("a lesson, the next moment, same pass", "./?lesson=one-number&moment=4", moment, MOMENT, LESSON, 1.0),
    Case("a lesson, the next moment, another pass", "./?lesson=order&moment=2", moment, MOMENT, LESSON),
    # shown by the server's answer to an action
    *(
        Case(f"{name}: {step}", f"?step={step}&{RANDOM}", act, watched)
        for name, act, watched in (("another word", WORD, ".thread"), ("another seed", SEED, ".story"))
        for step in ("qkv", "scores", "softmax", "output")
    ),
    Case("another word: question", f"?{RANDOM}", WORD, ".thread"),
    Case("another mask: softmax", f"?step=softmax&{RANDOM}", MASK, ".picture"),
    Case("a pair, another mask: the sheet", f"?view=sheet&step=softmax&beside=same&{RANDOM}", MASK, ".pairing", SHEET),
    Case("a pair, another mask: softmax", f"?step=softmax&beside=same&{RANDOM}", MASK, ".pairing"),
    Case("microgpt, another letter", "?model=microgpt&sentence=ka", LETTER, ".bars-of", ".bar-of"),
    Case("other heads: softmax", f"?step=softmax&{RANDOM}", HEADS, ".heads"),
    Case("another model: question", "?model=mirror", MODEL, ".thread"),
    Case("another checkpoint: who-is-it, softmax", "?model=who-is-it&step=softmax", CHECKPOINT, FIGURES),
    Case("another checkpoint: recall, softmax of layer 2", "?model=recall&step=softmax-2", CHECKPOINT, FIGURES),
    Case("audit: another sentence", f"audit?{RANDOM}", LENGTH, AUDIT, AUDIT),
    Case("audit: other heads", f"audit?{RANDOM}", HEADS, AUDIT, AUDIT),
    Case("the same in NumPy: another sentence", f"numpy_code?{RANDOM}", LENGTH, SCRIPT, SCRIPT),
    Case("the same in NumPy: other heads", f"numpy_code?{RANDOM}", HEADS, SCRIPT, SCRIPT),
    # shown by a run of the script; the first before its run, which changes only what is folded away
    Case("worked examples: another notebook", "worked_examples", NOTEBOOK, ".article", ".article h2"),
    Case("built by hand: another string", "by_hand", STRING, ".article", ".article .matrix", 3),
]


def main() -> int:
    """Print the table; 1 if something takes longer than its aim, in times one line of text."""
    is_within = True
    with browsing() as browser, served("benchmarks/line.py") as line, served("app.py") as app:
        base_page, page = (browser.new_context(viewport=SIZE).new_page() for _ in range(2))  # both windows are visible
        messages: list[object] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda sent: messages.append(sent)))
        page.on("request", lambda sent: messages.append(sent) if sent.url.endswith("/actions") else None)
        visit(base_page, line[0], LINE.watched)
        for case in CASES:
            path = f"walkthrough{case.address}" if case.address.startswith("?") else case.address
            visit(page, f"{app[0]}/{path}", case.shown)
            messages.clear()
            before = processor_ms(app[1])
            base, taken = medians_ms((base_page, LINE), (page, case))
            is_within &= taken / base <= case.aim
            each = (processor_ms(app[1]) - before) / (ROUNDS + WARM)
            times = f"| {case.name} | {taken:.0f} ms | {base:.0f} ms | {taken / base:.1f} (aim {case.aim}) |"
            print(f"{times} {len(messages) / (ROUNDS + WARM):.1f} | {each:.0f} ms |", flush=True)
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
