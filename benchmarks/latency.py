"""How long it takes to show something else on every page, beside a page with one line of text in the same run.

    .venv/bin/python -m benchmarks.latency

Each time is measured inside the page, in a real browser: from the act to the
frame after the one that shows the change, a median over 20, in turns with those
of the page with one line of text, which stand beside it. The messages are
those that the page sends to the server meanwhile, acts and what asks for runs:
none, where the browser has all that it shows. Only the ratios carry over to
another machine.
"""

import contextlib
import statistics
import sys
from collections.abc import Callable, Iterator
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright
from server import processor_ms, served

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


SIXTEEN = "sentence=" + "+".join(f"w{i}" for i in range(16)) + "&d_model=16"
RANDOM = "sentence=the+cat+sat+on+the+mat"
SHEET = ".sheet tr"
MOMENT = ".lesson-said, .lesson-picture"


class Case(NamedTuple):
    """What is done on a page, what shows that it was answered, and how many times one line of text it may take."""

    name: str
    address: str
    act: Callable[[int], tuple[str, str | None]]
    watched: str = ".story"
    shown: str = PICTURE
    aim: float = 1.5

    @property
    def path(self) -> str:
        """Where in the app its page is; parameters alone are the walkthrough's."""
        return f"walkthrough{self.address}" if self.address.startswith("?") else self.address


def click(what: str) -> Callable[[int], tuple[str, None]]:
    """Click the same thing each time."""
    return lambda number: (what, None)


def give(what: str, *values: str) -> Callable[[int], tuple[str, str]]:
    """Type or pick one value after the other."""
    return lambda number: (what, values[number % len(values)])


def cell(number: int) -> tuple[str, None]:
    """Click another cell of the last matrix than the one before."""
    return f'[role="grid"] [data-row="{number % 4 + 2}"][data-column="{(number // 4 + number + 1) % 4}"]', None


def name(number: int) -> tuple[str, None]:
    """Click another word above the sheet than the one before."""
    return f".sheet .names th:nth-child({number % 5 + 2}) button", None


def head(number: int) -> tuple[str, None]:
    """Click the other head."""
    return f".heads button:nth-child({(number + 1) % 2 + 1})", None


def moment(number: int) -> tuple[str, None]:
    """Go on to the next moment of a lesson and back; the first press of all shows the answer of the first."""
    on = number < 2 or number % 2
    return f'role=button[name="{"Next" if on else "Back"}"]', None


def step(number: int) -> tuple[str, None]:
    """Click one step of the map after the other."""
    return f".map [data-step={'softmax' if number % 2 else 'qkv'}]", None


def picked(label: str, *options: str) -> Callable[[int], tuple[str, str]]:
    """Pick one option of a setting after the other."""
    return give(f'role=combobox[name="{label}"]', *options)


def typed(*texts: str) -> Callable[[int], tuple[str, str]]:
    """Type one sentence after the other."""
    return give('role=textbox[name="Sentence"]', *texts)


SEED = click('role=button[name="Another seed"]')
WORD = typed("the cat sat on the hat", "the cat sat on the mat")
LENGTH = typed("the cat sat", "the cat sat on the mat")
MASK = picked("Mask", "causal", "none")
HEADS = picked("Heads", "4", "2")
CHECKPOINT = give(".training input", "ArrowLeft", "ArrowRight")
FIGURES = ".training .figures"

LINE = Case("one line of text", "", click('[data-testid="stButton"] button'), '[data-testid="stText"]')
"""What all others are compared with."""

IN_PLACE = [
    Case("another cell: scores", "?step=scores", cell),
    Case("another cell: Q, K, V", "?step=qkv", cell),
    Case("another cell: Q, K, V, 16 words, d_model 16", f"?step=qkv&heads=4&{SIXTEEN}", cell),
    Case("another cell: softmax", "?step=softmax", cell),
    Case("another head: softmax", "?step=softmax", head),
    Case("the sheet, another word", "?view=sheet&step=weighted-sum", name, ".sheet", SHEET),
    Case("the sheet, another head", f"?view=sheet&step=softmax&{RANDOM}", head, ".sheet", SHEET),
    Case(
        "a pair, another word",
        f"?view=sheet&step=weighted-sum&mask=causal&beside=mask%3D&{RANDOM}",
        name,
        ".sheet",
        SHEET,
    ),
    Case("the sheet, another band", "?view=sheet&step=scores", step, ".sheet", SHEET),
    Case("another step", "?step=scores", step, "h2"),
    Case(
        "a term unfolded, and back",
        "?step=output",
        lambda n: (".trail .link:first-child" if n % 2 else ".terms .link", None),
        ".trail",
    ),
    Case(
        "a lesson, the next moment, same pass", "./?lesson=one-number&moment=4", moment, MOMENT, ".lesson-picture", 1.0
    ),
    Case("a lesson, the next moment, another pass", "./?lesson=order&moment=2", moment, MOMENT, ".lesson-picture"),
]
"""What is shown without asking the server."""

BY_AN_ACT = [
    *(
        Case(f"{name}: {step}", f"?step={step}&{RANDOM}", act, watched)
        for name, act, watched in (("another word", WORD, ".thread"), ("another seed", SEED, ".story"))
        for step in ("qkv", "scores", "softmax", "output")
    ),
    Case("another word: question", f"?{RANDOM}", WORD, ".thread"),
    Case("another mask: softmax", f"?step=softmax&{RANDOM}", MASK, ".picture"),
    Case("a pair, another mask: the sheet", f"?view=sheet&step=softmax&beside=same&{RANDOM}", MASK, ".pairing", SHEET),
    Case("a pair, another mask: softmax", f"?step=softmax&beside=same&{RANDOM}", MASK, ".pairing"),
    Case("microgpt, another letter", "?model=microgpt&sentence=ka", typed("kay", "ka"), ".bars-of", ".bar-of"),
    Case("other heads: softmax", f"?step=softmax&{RANDOM}", HEADS, ".heads"),
    Case("another model: question", "?model=mirror", picked("Show", "Who is “it”?", "Mirror"), ".thread"),
    Case("another checkpoint: who-is-it, softmax", "?model=who-is-it&step=softmax", CHECKPOINT, FIGURES),
    Case("another checkpoint: recall, softmax of layer 2", "?model=recall&step=softmax-2", CHECKPOINT, FIGURES),
    *(
        Case(f"{name}: {what}", f"{page}?{RANDOM}", act, shown, shown)
        for name, page, shown in (
            ("audit", "audit", ".audit tbody"),
            ("the same in NumPy", "numpy_code", ".script pre"),
        )
        for what, act in (("another sentence", LENGTH), ("other heads", HEADS))
    ),
]
"""What is shown by the server's answer to an act."""

BY_A_RUN = [
    Case(
        "worked examples: another notebook",
        "worked_examples",
        lambda n: (f'.st-key-notebook input[value="{(n + 1) % 5:03}"]', None),
        ".article",
        ".article h2",
    ),
    Case(
        "built by hand: another string",
        "by_hand",
        give(".st-key-string input", "dabcd", "abca"),
        ".article",
        ".article .matrix",
        3,
    ),
]
"""What is shown by a run of the script.

Another notebook is shown before its run, which changes no more than what is folded away.
"""


def main() -> int:
    """Print the table; 1 if something takes more times one line of text than its aim."""
    is_within = True
    with browsing() as browser, served("benchmarks/line.py") as line, served("app.py") as app:
        beside, page = (browser.new_context(viewport=SIZE).new_page() for _ in range(2))  # both windows are in sight
        messages: list[object] = []
        page.on("websocket", lambda socket: socket.on("framesent", lambda sent: messages.append(sent)))
        page.on("request", lambda sent: messages.append(sent) if sent.url.endswith("/acts") else None)
        visit(beside, line[0], LINE.watched)
        for case in (*IN_PLACE, *BY_AN_ACT, *BY_A_RUN):
            visit(page, f"{app[0]}/{case.path}", case.shown)
            messages.clear()
            before = processor_ms(app[1])
            base, taken = medians_ms(Timed(beside, LINE.act, LINE.watched), Timed(page, case.act, case.watched))
            is_within &= taken / base <= case.aim
            each = (processor_ms(app[1]) - before) / (ROUNDS + WARM)
            print(
                f"| {case.name} | {taken:.0f} ms | {base:.0f} ms | {taken / base:.1f} (aim {case.aim}) | "
                f"{len(messages) / (ROUNDS + WARM):.1f} | {each:.0f} ms |",
                flush=True,
            )
    return 0 if is_within else 1


if __name__ == "__main__":
    sys.exit(main())
