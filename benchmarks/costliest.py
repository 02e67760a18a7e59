"""What one run of each page and one act costs the server at its costliest address: processor, and an act's bytes.

Run with `python -m benchmarks.costliest`. Each page is opened at its default address and at every address of
`costly`, and each act is done there; of the rounds the cheapest counts, so that a busy machine changes little, and of
the addresses the costliest. Times of the default address are measured in the same run: look at the ratio.
"""

import functools
import logging
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from attnviz.contract.request import MAX_ACTS, ActsRequest
from attnviz.core.limits import MAX_CHANGES, MAX_CHARACTERS, MAX_TOKENS
from attnviz.core.stage import Stage
from attnviz.core.trace import Trace
from attnviz.scene.acts.session import Session, answer_to
from attnviz.scene.address import parse
from attnviz.scene.document.reply import PARTS
from attnviz.scene.resolution import resolve
from attnviz.text import export
from benchmarks.largest import ADDRESS

ROOT = Path(__file__).parent.parent
ROUNDS = 2
MAX_SECONDS = 0.5
"""Seconds of processor that the costliest run or act may take."""

LARGE = ADDRESS | {"positions": "sinusoidal", "mask": "window", "mask_size": "64", "ask": "slope"}
CELL = {"cell": "scores[1,1,1]", "value": 2}
ACTS: dict[str, list[list]] = {
    "an act that changes nothing": [["nothing", True]],
    "another sentence": [["sentence", "w " * MAX_TOKENS]],
    "another seed": [["another_seed", True]],
    "a number by hand": [["change", CELL]],
    "a muted head": [["mute", {"stage": "heads", "head": 0}]],
    "two words swapped": [["swap", [0, 1]]],
    "slopes of a number": [["slopes", "output[1,1]"]],
    "another head": [["need", 7]],
    f"{MAX_ACTS} other heads": [["need", n] for n in range(MAX_ACTS)],
    f"{MAX_ACTS} numbers by hand": [["change", CELL | {"cell": f"scores[1,1,{n + 1}]"}] for n in range(MAX_ACTS)],
    f"{MAX_ACTS} seeds and numbers in turns": [["another_seed", True], ["change", CELL]] * (MAX_ACTS // 2),
}
OF_ALL_PAGES = ("another sentence", "another seed", f"{MAX_ACTS} seeds and numbers in turns")
"""Acts that are done on the pages of the audit and of the script too."""
LETTERS = " ".join("abcdefgh"[n % 8] for n in range(15))


def costly() -> dict[str, dict[str, str]]:
    """The addresses that were found to cost most, by what is large in them."""
    found = {}
    for heads in (1, 16, 128):
        large = LARGE | {"heads": str(heads)}
        stages = resolve(parse(large).scene).trace.stages
        found[f"{heads} heads"] = large
        found[f"{heads} heads, changed at the start"] = large | {"changes": first_of(stages[:1])}
        found[f"{heads} heads, most cells set by hand"] = large | {"changes": first_of(stages)}
        found[f"{heads} heads, muted"] = large | {
            "changes": ";".join(f"heads[{head}]=0" for head in range(min(heads, MAX_CHANGES)))
        }
    for model, text in (("who-is-it", "animal " * 12), ("mirror", "1 2 3 4 5 6 7 8"), ("recall", LETTERS)):
        found[model] = {"model": model, "sentence": text.strip(), "checkpoint": "1"}
    by_hand = {"model": "by-hand", "sentence": "abcd" * 3}
    found["by hand, changed"] = by_hand | {"changes": first_of(resolve(parse(by_hand).scene).trace.stages)}
    found["as many terms as are audited unasked"] = {"sentence": "w " * 26}
    found["many marks"] = {"sentence": "a" + "\u0301\u0316" * (MAX_CHARACTERS // 2 - 1)}
    found["no words of a model"] = {"model": "who-is-it", "sentence": "\u4e2d" * MAX_CHARACTERS}
    found["long values"] = dict.fromkeys(
        ("step", "cell", "picked", "trail", "changes", "seed", "notebook"), "1<" * 2000
    )
    found["unknown names"] = {f"name {n}": "1" for n in range(2000)}
    return found


def first_of(stages: list[Stage]) -> str:
    """As many changes as there may be, those that set most cells first."""
    parts = [(stage.value[0].size, f"{stage.name}[{n}]=1") for stage in stages for n in range(stage.shape[0])]
    return ";".join(text for _, text in sorted(parts, key=lambda part: -part[0])[:MAX_CHANGES])


def cost(task: Callable[[], int]) -> tuple[float, int]:
    """The seconds of processor that a task takes, the fewest of some rounds, and what it returns."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        n_bytes = task()
        found.append((time.process_time() - start, n_bytes))
    return min(found)


def opened(page: Path, address: dict[str, str]) -> int:
    """Open a page. Its bytes are not counted: what it shows an act answers too."""
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
    at.switch_page(str(page.relative_to(ROOT)))
    for name, text in address.items():
        at.query_params[name] = text
    at.run()
    assert not at.exception, at.exception
    return 0


def answered(address: dict[str, str], done: list[list], view: str) -> int:
    """Do this where the address leads; returns the bytes of the answer."""
    session = Session(parse(address).scene)
    return len(answer_to(session, ActsRequest("", session.address, "", view, done, [])))


def made(address: dict[str, str], makes: Callable[[Trace], bytes | str]) -> int:
    """Make a file of the pass there; returns its bytes."""
    trace = resolve(parse(address).scene).trace
    return len(makes(trace)) if trace else 0


def tasks() -> Iterator[tuple[str, Callable[[dict[str, str]], int]]]:
    """What is done at each address: a page is opened, acts are done, a file is made."""
    for page in sorted(ROOT.glob("pages/*.py")):
        yield page.stem, partial(opened, page)
    for name, done in ACTS.items():
        for view in PARTS if name in OF_ALL_PAGES else ("pass",):
            yield f"{name}: {view}", partial(answered, done=done, view=view)
    for name, makes in {"script": export.script, "arrays": export.arrays}.items():
        yield name, partial(made, makes=makes)


def main() -> int:
    """Print the figures; 1 if a run or an act costs more than its limit."""
    logging.disable()
    scan = manifest_scanner.scan_component_manifests
    manifest_scanner.scan_component_manifests = functools.cache(scan)  # once, as in a server
    addresses, slowest = costly(), 0.0
    print(f"{'':54} {'default':>15} {'costliest':>15} {'times':>6}")
    for name, task in tasks():
        default = cost(partial(task, {}))
        worst, where = max((cost(partial(task, each)), where) for where, each in addresses.items())
        slowest = max(slowest, worst[0])
        print(f"{name:54} {_said(*default)} {_said(*worst)} {worst[0] / default[0]:6.1f}  {where}", flush=True)
    print(f"The costliest takes {slowest * 1e3:.0f} ms of processor (limit {MAX_SECONDS * 1e3:.0f} ms).")
    return 0 if slowest <= MAX_SECONDS else 1


def _said(seconds: float, n_bytes: int) -> str:
    return f"{seconds * 1e3:4.0f} ms {n_bytes / 1e3:5.0f} kB"


if __name__ == "__main__":
    sys.exit(main())
