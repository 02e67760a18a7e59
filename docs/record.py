"""Record README's pictures from the app itself, in a headless Chromium: `python docs/record.py [name ...]`.

A development script, with the packages of requirements-dev.txt and Debian's chromium. The page's clock is stopped and
moved on by hand, frame by frame, so that two recordings of one version have the same frames on any computer.
"""

import base64
import io
import json
import logging
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, ViewportSize, sync_playwright

import attnviz

log = logging.getLogger(__name__)
DOCS = Path(__file__).parent
FRAME_MS = 50
HOLD_MS = 1800  # how long the last frame stays
MAX_BYTES = 2_000_000
COLOURS = 96
RARE = ("#6f3fb5", "#d9a800", "#8a6a00", "#2f3f50", "#006ea0", "#a34a00")
EDGE = 16  # px
LOADS_MS = 60_000
SCORES_PX = 510
CARD: ViewportSize = {"width": 1200, "height": 630}
# a pointer, as a headless browser draws none
POINTER = """<svg id="pointer" viewBox="0 0 16 24" width="20" height="30" style="position: fixed; z-index: 9999;
pointer-events: none; left: 0; top: 0"><path d="M1 1v18l4.5-4 3 7.5 3.5-1.5-3-7.2 6-.3z" fill="#111"
stroke="#fff" stroke-width="1.5"/></svg>"""

MOVE = """([part, x, y]) => { const { at, style } = pointer; style.left = `${at[0] + (x - at[0]) * part}px`;
style.top = `${at[1] + (y - at[1]) * part}px`; if (part === 1) pointer.at = [x, y]; }"""
DRAG_FRAMES = 24

Frame = tuple[Image.Image, int]  # and the milliseconds that it stays


@contextmanager
def app() -> Iterator[str]:
    """The app on a free port of this machine."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    address = ["--server.address", "127.0.0.1", "--server.port", port, "--server.headless", "true"]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *address]
    server = subprocess.Popen(command, cwd=DOCS.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            with suppress(OSError):
                urllib.request.urlopen(f"{url}/_stcore/health", timeout=1)
                break
            time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait(10)


class Recorder:
    """A page with a stopped clock, and the frames taken of a part of it."""

    def __init__(self, browser: Browser, url: str, width: int, height: int, size: float = 1.0) -> None:
        self.page: Page = browser.new_page(
            viewport={"width": width, "height": height}, color_scheme="light", device_scale_factor=size
        )
        self.page.clock.install()
        self.page.goto(url)
        self.frames: list[Frame] = []
        self.clip: dict[str, float] = {}

    def stop(self) -> None:
        """Stop the clock, once the page stands."""
        self.page.wait_for_timeout(1500)
        self.page.evaluate("document.activeElement?.blur()")
        self.page.clock.pause_at(self.page.evaluate("Date.now()") + 100)

    def picture(self) -> Image.Image:
        """The part of the page that is recorded, as it stands."""
        png = self.page.screenshot(clip=self.clip) if self.clip else self.page.screenshot()  # type: ignore[arg-type]
        return Image.open(io.BytesIO(png)).convert("RGB")

    def take(self, ms: int) -> None:
        """Take a frame that stays for so long; one that equals the last prolongs it."""
        image = self.picture()
        if self.frames and self.frames[-1][0].tobytes() == image.tobytes():
            self.frames[-1] = (self.frames[-1][0], self.frames[-1][1] + ms)
        else:
            self.frames.append((image, ms))

    def run(self, ms: int) -> None:
        """Let the page's clock run for so long, and take what is seen."""
        for _ in range(0, ms, FRAME_MS):
            self.page.clock.run_for(FRAME_MS)
            self.take(FRAME_MS)

    def point(self, target: Locator) -> tuple[float, float]:
        """Move the pointer there; returns where that is."""
        box = target.bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for part in (0.1, 0.35, 0.65, 0.9, 1):
            self.page.evaluate(MOVE, [part, x, y])
            self.take(FRAME_MS)
        self.take(250)
        return x, y

    def click(self, target: Locator, hold_ms: int) -> None:
        """Move the pointer there, click, and take what follows."""
        self.page.mouse.click(*self.point(target))
        self.run(500)
        self.take(hold_ms)

    def drag(self, target: Locator, by: float) -> None:
        """Move the pointer there, and drag to the side."""
        x, y = self.point(target)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for nth in range(1, DRAG_FRAMES + 1):
            to = x + by * nth / DRAG_FRAMES
            self.page.mouse.move(to, y)
            self.page.evaluate(MOVE, [1, to, y])
            self.run(FRAME_MS)

    def show_pointer(self, x: float, y: float) -> None:
        """Draw a pointer there."""
        self.page.evaluate(
            "([svg, x, y]) => { document.body.insertAdjacentHTML('beforeend', svg); pointer.at = [x, y];"
            " pointer.style.left = `${x}px`; pointer.style.top = `${y}px`; }",
            [POINTER, x, y],
        )

    def hide(self, within: Locator, *selectors: str) -> None:
        """Take parts of a view away that the picture isn't about; the view may then be lower."""
        rule = f":is({', '.join(selectors)}) {{ display: none !important; }} .viewer {{ min-height: 0 !important; }}"
        rule += " .st-key-viewer { min-height: 0 !important; }"
        self.page.add_style_tag(content=rule)
        within.evaluate(
            "(e, css) => e.getRootNode().append(Object.assign(document.createElement('style'), { textContent: css }))",
            rule,
        )

    def clip_to(self, *parts: Locator) -> None:
        """Record these parts of the page alone."""
        boxes = [box for part in parts if (box := part.bounding_box())]
        left, top = min(box["x"] for box in boxes) - EDGE, min(box["y"] for box in boxes) - EDGE
        right = max(box["x"] + box["width"] for box in boxes) + EDGE
        bottom = max(box["y"] + box["height"] for box in boxes) + EDGE
        self.clip = {"x": max(left, 0), "y": max(top, 0), "width": right - left, "height": bottom - top}


def save(name: str, frames: list[Frame]) -> None:
    """Write a GIF with one palette, so that what stands still is stored once."""
    images, durations = zip(*frames, strict=True)
    samples = images[:: max(1, len(images) // 6)]
    sheet = Image.new("RGB", (images[0].width, len(samples) * images[0].height))
    for nth, each in enumerate(samples):
        sheet.paste(each, (0, nth * each.height))
    for nth, colour in enumerate(RARE):  # which a few thin lines have
        sheet.paste(colour, (0, 40 * nth, sheet.width, 40 * nth + 40))
    palette = sheet.quantize(COLOURS)
    drawn = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in images]
    file = DOCS / name
    drawn[0].save(file, save_all=True, append_images=drawn[1:], duration=list(durations), loop=0)
    n_bytes = file.stat().st_size
    log.info(
        f"{file.name}: {images[0].size}, {len(drawn)} frames, {sum(durations) / 1000:.1f} s, {n_bytes / 1e6:.2f} MB"
    )
    assert n_bytes <= MAX_BYTES, f"{name} is too large"


CHROME = (
    ".settings",
    ".notices",
    ".way",
    ".foot",
    ".panel",
    ".step-text > :not(header)",
    ".step-text header > :not(h2)",
)


def training(browser: Browser, url: str, checkpoint: int, height: int, size: float = 1) -> tuple[Recorder, Locator]:
    """A page with the picture of a training alone, at a checkpoint."""
    address = f"{url}/walkthrough?model=who-is-it&checkpoint={checkpoint}&embed=true"
    recorder = Recorder(browser, address, 960, height, size)
    picture = recorder.page.locator(".learns.large")
    picture.wait_for(timeout=LOADS_MS)
    recorder.hide(picture, *CHROME, ".learns .acts")
    recorder.stop()
    return recorder, picture


def learns(browser: Browser, url: str) -> None:
    """The training: attention moves from word to word, and the answer with it."""
    recorder, picture = training(browser, url, 0, 560)
    recorder.clip_to(recorder.page.locator(".step-text h2"), picture)
    recorder.take(900)
    picture.locator(".play").dispatch_event("click")
    while True:
        recorder.run(FRAME_MS)
        if not re.search(r"\b(running|moving)\b", picture.get_attribute("class") or ""):
            break
    recorder.take(HOLD_MS)
    save("learns.gif", recorder.frames)


def open_a_number(browser: Browser, url: str) -> None:
    """A click on an attention weight, and on what each number was made of, down to the parameters."""
    address = "/walkthrough?model=who-is-it&checkpoint=9&step=softmax&view=sheet&embed=true"
    recorder = Recorder(browser, url + address, 1200, 720)
    page = recorder.page
    sheet, panel = page.locator(".sheet"), page.locator(".panel")
    page.locator('.sheet [data-cell="attention[0,11,1]"]').wait_for(timeout=LOADS_MS)
    recorder.hide(sheet, *(each for each in CHROME if each != ".panel"), ".learns", ".training")
    recorder.stop()
    recorder.show_pointer(700, 640)
    recorder.clip_to(page.locator(".columns"))
    recorder.take(900)
    recorder.click(page.locator('.sheet [data-cell="attention[0,11,9]"]'), 1300)
    for name in ("masked", "scaled", "scores"):
        recorder.click(panel.locator(".terms button", has_text=f"{name}[head 1, tired, was]"), 1300)
    for name in ("q[", "w_q["):
        recorder.click(panel.locator(".terms button", has_text=name).first, 1300)
    recorder.take(HOLD_MS)
    save("open-a-number.gif", recorder.frames)


def score_to_weight(browser: Browser, url: str) -> None:
    """Scores, scaled, exponentiated and normalised; then one is dragged, and all weights give way."""
    address = "/walkthrough?model=who-is-it&checkpoint=9&step=scores&view=sheet&cell=1.12.2.1.1&embed=true"
    recorder = Recorder(browser, url + address, 1000, 600)
    page = recorder.page
    picture = page.locator(".score-pictures")
    picture.wait_for(timeout=LOADS_MS)
    recorder.hide(picture, *CHROME, ".learns", ".training", ".thread", ".sheet > :not(.score-pictures)")
    recorder.stop()
    recorder.clip_to(page.locator(".main"))
    recorder.clip |= {"height": SCORES_PX}  # of its highest step
    recorder.take(1500)
    for _ in ("scaling", "softmax"):
        page.locator(".way button").last.dispatch_event("click")
        recorder.run(1200)
        recorder.take(1500)
    dots = picture.get_by_role("slider")
    recorder.show_pointer(600, 420)
    recorder.drag(dots.nth(1), -24)
    recorder.take(HOLD_MS)
    save("score-to-weight.gif", recorder.frames)


def social_card(browser: Browser, url: str) -> None:
    """The name, what it is, and the picture of a model that has learnt."""
    recorder, picture = training(browser, url, 9, 380, size=2)
    page = recorder.page
    recorder.hide(picture, ".step-text", *(f".learns .{each}" for each in ("play", "course", "after")))
    page.clock.run_for(1000)
    recorder.clip_to(picture)
    drawn = page.screenshot(clip=recorder.clip)  # type: ignore[arg-type]
    paper, ink, font = page.locator(".viewer").evaluate(
        "(e) => { const s = getComputedStyle(e); return [s.backgroundColor, s.color, s.fontFamily]; }"
    )
    card = (
        '<h1 style="margin: 0; font-size: 72px; line-height: 1.1; padding: 0">attnviz</h1>'
        '<p style="margin: 8px 0 24px; font-size: 32px">'
        "How models like ChatGPT decide which words matter, with every number real</p>"
        '<img style="flex: 1; min-height: 0; object-fit: contain; object-position: left bottom"'
        f' src="data:image/png;base64,{base64.b64encode(drawn).decode()}">'
    )
    look = f"box-sizing: border-box; height: 100vh; margin: 0; padding: 40px 56px; background: {paper}; color: {ink};"
    look += f" font: 32px/1.3 {font}; display: flex; flex-direction: column"
    page.set_viewport_size(CARD)
    page.evaluate("([card, look]) => { document.body.innerHTML = card; document.body.style = look; }", [card, look])
    page.screenshot(path=DOCS / "social-card.png", scale="css")  # in the fonts of the page, which it has loaded
    log.info(f"social-card.png: {(DOCS / 'social-card.png').stat().st_size / 1e6:.2f} MB")


# of a class of 40: how many phones point at which word of the sentence (6: street)
VOTES = {6: 22, 9: 8, 1: 5, 4: 3, 2: 2}


def class_answers(browser: Browser, url: str) -> None:
    """A presented question of the first lesson whose class has answered, before the truth is shown."""
    page = browser.new_page(viewport={"width": 1200, "height": 720}, color_scheme="light")
    page.goto(f"{url}/?lesson=who-is-it&moment=2")
    page.get_by_role("button", name="Teach").click(timeout=LOADS_MS)
    page.get_by_text("Open a class").last.click()
    code = page.locator(".typed-code strong").inner_text()

    def send(seat: str, **message: object) -> dict[str, str]:
        body = json.dumps({**message, "seat": seat} if seat else message).encode()
        with urllib.request.urlopen(f"{url}/room?room={code}", body) as answer:
            return json.loads(answer.read() or "{}")

    for word in [word for word, n_phones in VOTES.items() for _ in range(n_phones)]:
        send(send("", do="join")["seat"], do="answer", question=0, round=1, value=word)
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    page.locator(".viewer.presenting, .presenting .viewer").first.wait_for(state="attached")
    page.keyboard.press("PageDown")
    page.locator(".placed-dots:not([hidden])").wait_for()
    page.wait_for_timeout(1500)
    page.screenshot(path=DOCS / "class-answers.png", clip={"x": 0, "y": 60, "width": 1200, "height": 590})


def own_code(browser: Browser, url: str) -> None:
    """The mistake of README's example as two passes: A as the code computes it, B right."""
    trace = attnviz.trace_of(attnviz.Settings("the cat sat on the mat", d_model=8, n_heads=2, mask="causal", seed=3))
    scores = np.where(np.isneginf(trace["masked"].value), -np.inf, trace["scores"].value / np.sqrt(8))
    attention = np.exp(scores - scores.max(axis=-1, keepdims=True))
    comparison = attnviz.compare(trace, {"attention": attention / attention.sum(axis=-1, keepdims=True)})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "comparison.html"
        attnviz.page(comparison, file)
        page = browser.new_page(viewport={"width": 1200, "height": 720}, color_scheme="light")
        page.goto(file.as_uri())
        page.locator("[role=grid], .sheet").first.wait_for()
        page.wait_for_timeout(1500)
        page.screenshot(path=DOCS / "own-code.png", clip={"x": 0, "y": 140, "width": 900, "height": 525})


RECORDINGS = {
    "learns": learns,
    "open-a-number": open_a_number,
    "score-to-weight": score_to_weight,
    "class-answers": class_answers,
    "own-code": own_code,
    "social-card": social_card,
}


def main(names: list[str]) -> None:
    """Record the pictures of these names, or all."""
    with app() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name in names or RECORDINGS:
            RECORDINGS[name](browser, url)
        browser.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(sys.argv[1:])
