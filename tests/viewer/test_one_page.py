"""A pass as one HTML page, opened offline from a file or in a notebook; what a person typed stays words in it."""

import json
import re
import warnings
from base64 import b64decode
from html.parser import HTMLParser
from urllib.parse import urlencode

import numpy as np
import pytest
from axe import violations_but_contrast
from boxes import THEMES
from cases import of_each
from contrast import faint
from documents import fitted_at, merged, whole
from hostile import CASES
from needs import needed
from page import ROOT
from patience import PATIENCE_SECONDS
from tab import becomes, cell, expect, frames, from_menu
from twotexts import LABELLED, READ, TRACE, WRITTEN

from attnviz import OwnArraysError, Parameters, Settings, attend, compare, page, show, trace_of
from attnviz.core.changes import parse_change
from attnviz.models import MODELS
from attnviz.scene.document.document import document_json
from attnviz.scene.scene import FIRST_VISIT
from attnviz.scene.with_pass import resolve
from attnviz.viewer import bundle
from attnviz.viewer.page import USUAL_BYTES

SETTINGS = Settings("the cat sat on the mat")
NEEDS = "That needs attnviz itself"
COLOURS = "(each) => [getComputedStyle(each).color, getComputedStyle(each).backgroundColor]"


class Reader(HTMLParser):
    """The elements of a page, its title and what its scripts hold, by the standard library's parser."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.texts, self.now = [], {}, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.now = dict(attributes).get("id", tag)

    def handle_endtag(self, tag):
        self.now = ""

    def handle_data(self, data):
        self.texts[self.now] = self.texts.get(self.now, "") + data


def passes():
    """A pass of each hostile text that makes one, and one of arrays whose words are markup."""
    for name, text in CASES.items():
        if trace := fitted_at({"sentence": text, "d_model": "2", "heads": "1"}).trace:
            yield name, trace
    words = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "<!--<script>", "&quot;{0}"]
    trace = attend(np.eye(4), parameters=Parameters(w_q=np.ones((1, 4, 2)), w_k=np.ones((1, 4, 2))))
    yield "labels", trace.labelled(**dict.fromkeys(("token", "query", "key", "context_token"), tuple(words)))


def test_buttons_without_server_say_so(offline):
    tab = offline(first_visit())
    refused, button = tab.locator("#refused"), lambda text: tab.get_by_role("button", name=re.compile(text))
    for text in ("^or type your own", "^Hide", "^Swap", "^Mute"):
        button(text).click()
        expect(refused).to_contain_text(NEEDS)
        tab.evaluate("document.querySelector('#refused').textContent = ''")
    slider = tab.get_by_role("slider", name="Training steps")
    slider.press("Home")  # the whole training is in the page
    expect(slider).to_have_attribute("aria-valuenow", "0")
    expect(tab.locator(".learns .note")).to_have_text(re.compile("All other numbers here are after \\d+ of 400 steps"))
    for absent in ("Copy link", "QR code"):
        expect(tab.locator(".share button", has_text=absent)).to_be_hidden()
    expect(tab.locator("#alone")).to_contain_text("No link or QR code leads into it: send the page.")
    tab.keyboard.press("q")
    expect(tab.locator("dialog[open]")).to_have_count(0)
    tab.keyboard.press("PageDown")
    tab.get_by_role("button", name="what would move it").click()
    expect(tab.locator(".reply")).to_contain_text(NEEDS)


def first_visit():
    """The page that the app's button writes of a first visit, but for what a browser adds."""
    fitted = resolve(FIRST_VISIT)
    return bundle.viewer_page(document_json(fitted), "a first visit")


def test_download_of_a_file_is_the_same_pass(offline, tmp_path):
    tab = offline(show(trace_of(SETTINGS).with_changes(parse_change("scores[0,1,2]=3"))).html)
    tab.get_by_role("button", name="Softmax", exact=True).click()
    tab.get_by_role("button", name="All words").click()
    cell(tab, "Attention", 3, 4).click()
    texts = []
    for _ in range(2):
        button = from_menu(tab, re.compile(r"^Download as a page, \d+ kB"))
        named = int(re.search(r"(\d+) kB", button.inner_text())[1])
        with tab.expect_download() as download:
            button.click()
        assert download.value.suggested_filename == "attnviz the cat sat on the mat.html"
        download.value.save_as(tmp_path / "again.html")
        texts.append((tmp_path / "again.html").read_text("utf-8"))
        assert named == pytest.approx(len(texts[-1].encode()) / 1000, rel=0.01)
        assert len(texts[-1].encode()) < USUAL_BYTES
        tab = offline(texts[-1])
        expect(tab.locator(".panel h3")).to_contain_text("attention[head 1, on, the (2)] = ")
        assert cell(tab, "Attention", 3, 4).get_attribute("class")
    assert texts[0].replace('"template":{"name":"","parts":', "").count("<script") == 2
    expect(tab.get_by_role("button", name="Softmax", exact=True)).to_have_attribute("aria-current", "step")


def test_app_downloads_what_it_shows(visit, offline, tmp_path):
    forty = " ".join(f"w{place}" for place in range(40))
    shown = {"sentence": forty, "d_model": 32, "heads": 4, "step": "softmax", "changes": "scores[0,1,2]=30"}
    tab = visit(afresh=True)
    app = tab.open("?" + urlencode(shown))
    button = from_menu(app, re.compile("^Download as a page, .*MB"))
    named = button.inner_text()
    with app.expect_download() as download:
        button.click()
    download.value.save_as(tmp_path / "downloaded.html")
    text = (tmp_path / "downloaded.html").read_text("utf-8")
    assert f"{len(text.encode()) / 1e6:.1f} MB" in named, "said before it was written"
    parts = json.loads(Reader(text).texts["document"])
    document = merged(parts["template"]["parts"], {name: part for name, part in parts.items() if name != "template"})
    assert None not in document["stages"]["attention"]["values"], "all heads are in it"
    saved = offline(text)
    for each in (app, saved):
        expect(each.locator(".viewer .step-text h2")).to_have_text("Scores become attention weights")
        expect(each.locator(".panel")).to_contain_text("1 number is set by hand.")
    assert saved.locator(".panel h3").inner_text() == app.locator(".panel h3").inner_text()


def test_file_passes_axe_and_prints_the_sheet(offline):
    paper = needed("paper")
    tab = offline(show(trace_of(Settings("the cat sat", d_model=4))).html)
    for theme, step in (("light", "Start"), ("dark", "Scores")):
        tab.get_by_role("button", name=step, exact=True).click()
        tab.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour is on its way to another
        frames(tab)
        assert violations_but_contrast(tab) == []
        assert faint(tab) == [[], [], []]
        colours = [f"rgb{tuple(bytes.fromhex(THEMES[theme][name][1:]))}" for name in ("textColor", "backgroundColor")]
        assert tab.locator(".viewer").evaluate(COLOURS) == colours
    sheets = paper.printed(tab)
    assert [sheet.is_wide for sheet in sheets] == [True, True]
    assert "Where “cat” looks" in sheets[0].text
    assert "No link" not in "".join(sheet.text for sheet in sheets)


def test_file_colours_match_the_app():
    light, dark = re.split(r"@media \(prefers-color-scheme: dark\)", bundle.THEME.read_text("utf-8"))
    for text, theme in ((light, THEMES["light"]), (dark, THEMES["dark"])):
        for name, colour in theme.items():
            if not name.startswith(("primary", "yellow", "code")):  # of Streamlit's own parts
                assert f"--st-{re.sub('[A-Z]', lambda letter: '-' + letter[0].lower(), name)}: {colour};" in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:A page of")
@pytest.mark.parametrize(("name", "trace"), list(passes()), ids=lambda each: each if isinstance(each, str) else "")
def test_typed_text_stays_text(name, trace):
    made = show(trace)
    file, harmless = Reader(made.html), Reader(show(trace_of(Settings("a", d_model=2, n_heads=1))).html)
    assert file.elements == harmless.elements, "no element or attribute more"
    assert file.texts["title"] == f"{made.title} – attnviz"
    words = json.loads(file.texts["document"])["template"]["parts"]["words"]["query"]
    assert words == list(trace.labels["query"])
    output = Reader(made._repr_html_())
    assert [tag for tag, _ in output.elements] == ["iframe", "p"]
    assert output.elements[0][1]["srcdoc"] == made.html
    assert output.elements[0][1]["sandbox"] == "allow-scripts allow-downloads"
    assert made.title in output.texts["p"]
    assert made.title in repr(made)


@pytest.mark.filterwarnings("ignore:A page of")
def test_typed_text_never_runs_in_a_browser(offline):
    for name, trace in passes():
        if name in ("HTML", "a closed element", "an attribute", "labels"):
            tab = offline(show(trace).html)
            assert tab.locator(":is(img, iframe, b, a[href], [onerror], [onload])").count() == 0
            assert tab.locator("script").count() == 2
            becomes(tab, tab.title, f"{show(trace).title} – attnviz")


def test_comparison_is_shown_as_two_passes(tmp_path):
    right = trace_of(Settings("the cat sat", mask="causal"))
    shares = np.where(np.tri(3), np.exp(right["scores"].value), 0)
    found = compare(right, {"attention": shares / shares.sum(axis=-1, keepdims=True)})
    document = json.loads(Reader(show(found).html).texts["document"])
    (between,), other = document["other"]["between"], document["other"]["document"]
    assert between == ["Computed by", "your code", "attnviz"]
    assert other["stages"]["scaled"]["overriddenBy"] == "as your code computed it"
    assert (document["where"]["picked"], document["where"]["step"]) == ("attention", "softmax")
    assert page(found, tmp_path / "pair.html") < USUAL_BYTES
    agrees = compare(right, {"attention": right["attention"].value})
    assert json.loads(Reader(show(agrees).html).texts["document"])["other"] is None
    with pytest.raises(OwnArraysError, match="These arrays make no pass that the viewer shows"):
        show(compare(None, {"scores": right["scores"].value, "attention": right["attention"].value}))


def test_large_page_warns_of_its_size(tmp_path):
    assert len(first_visit().encode()) < USUAL_BYTES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert page(MODELS["who-is-it"].at(0).trace(FIRST_VISIT.sentence), tmp_path / "small.html") < USUAL_BYTES
        large = trace_of(Settings(" ".join(f"w{place}" for place in range(40)), d_model=64, n_heads=8))
        with pytest.raises(UserWarning, match=r"A page of (.*) MB, as its pass has 40 tokens and 8 heads") as named:
            page(large, tmp_path / "large.html")
    assert not (tmp_path / "large.html").exists()
    with pytest.warns(UserWarning, match="40 tokens"):
        n_bytes = page(large, tmp_path / "large.html")
    assert str(named.value).startswith(f"A page of {n_bytes / 1e6:.1f} MB")


def of_width(d_model, n_tokens=6, n_heads=2):
    """A pass of drawn arrays."""
    rng, d = np.random.default_rng(1), d_model // n_heads
    w_q, w_k, w_v = rng.normal(size=(3, n_heads, d_model, d)) / d_model**0.5
    parameters = Parameters(w_q=w_q, w_k=w_k, w_v=w_v, w_o=np.eye(d_model), b_o=np.ones(d_model))
    return attend(rng.normal(size=(n_tokens, d_model)), parameters=parameters)


@pytest.mark.filterwarnings("ignore:A page of")
def test_parameters_of_a_large_pass_are_left_out_unless_asked_for(tmp_path):
    left_out = {"w_q", "w_k", "w_v", "w_o", "contributions"}
    for trace, parameters, expected in (
        (of_width(32), False, set()),  # all 8,192 numbers of them make 44 kB
        (of_width(128), False, left_out),
        (of_width(128), True, set()),
    ):
        page(trace, tmp_path / "page.html", parameters=parameters)
        text = (tmp_path / "page.html").read_text("utf-8")
        assert text == show(trace, parameters=parameters).html
        stages = whole(json.loads(Reader(text).texts["document"]))["stages"]
        assert {name for name, stage in stages.items() if None in stage["values"]} == expected
        single = {name for name, stage in stages.items() if stage["values"][0] and stage["values"][0][0] == "~"}
        assert single == (set(stages) - left_out if expected else set())
    light, heavy = show(of_width(128)), show(of_width(128), parameters=True)
    assert heavy.n_bytes - light.n_bytes > 4 * 128**2 * 8 * 4 / 3
    sent = whole(json.loads(Reader(light.html).texts["document"]))["stages"]["q"]["values"]
    numbers = np.array([np.frombuffer(b64decode(each[1:]), "<f4") for each in sent]).reshape(2, 6, 64)
    np.testing.assert_array_equal(numbers, of_width(128)["q"].value.astype("<f4"))


@pytest.mark.filterwarnings("ignore:A page of")
def test_all_heads_of_a_bert_are_in_its_page():
    light = show(of_width(768, n_tokens=64, n_heads=12))
    assert light.n_bytes < 4_300_000, "with a shell of 0.7 MB"
    stages = whole(json.loads(Reader(light.html).texts["document"]))["stages"]
    assert all(None not in stages[name]["values"] for name in ("q", "k", "v", "scores", "attention", "heads"))


@pytest.mark.filterwarnings("ignore:A page of")
def test_terms_of_left_out_parameters_say_so(offline):
    made = show(of_width(128))
    tab = offline(made.html)
    reply = tab.locator(".panel .reply")
    for step, title in (("Q, K, V", "q["), ("Output", "output[")):
        tab.get_by_role("button", name=step, exact=True).click()
        expect(tab.locator(".panel h3")).to_contain_text(title)
        expect(reply).to_contain_text("The parameters that make this number aren’t in this page.")
    tab.get_by_role("button", name="Scores", exact=True).click()
    expect(reply).not_to_contain_text("aren’t in this page")
    named = from_menu(tab, re.compile("^Download as a page")).inner_text()
    assert int(re.search(r"(\d+) kB", named)[1]) == pytest.approx(made.n_bytes / 1000, rel=0.01)


@pytest.mark.filterwarnings("ignore:A page of")
@of_each("case", {"with words": (LABELLED, READ, WRITTEN), "bare": (TRACE, ("1", "2", "3", "4"), ("1", "2", "3"))})
def test_page_of_two_texts_has_the_words_of_each_layer(case):
    trace, read, written = case
    made = show(trace)
    assert made.title == (" ".join(read) if trace is LABELLED else "a pass of 4 tokens")
    document = whole(json.loads(Reader(made.html).texts["document"]))
    sides = [(read, read)] * 2 + [(written, written), (written, read)] * 2
    assert [(tuple(each["words"]["query"]), tuple(each["words"]["key"])) for each in document["layers"]] == sides
    with pytest.warns(UserWarning, match="6 layers, 4 tokens and 3 heads"):
        show(trace)
    own = {name: trace[f"{name}_4"].value for name in ("q", "k")}
    found = compare(trace, own | {"scaled": trace["scores_4"].value}, layer=4)
    pair = json.loads(Reader(show(found).html).texts["document"])
    assert (pair["where"]["picked"], pair["where"]["step"]) == ("scaled_4", "scaling-4")


def test_pass_page_contains_no_lessons():
    """Lessons are pages of the app: neither their modules nor their styles are in a page that is sent."""
    text = first_visit()
    assert ".sheet" in text
    assert not re.search(r"lesson-page|own-picture|share-bars", text)


CODE = """
from attnviz import Settings, show, trace_of

words = ("</script><b>the</b>", '"cat"', "sat")
show(trace_of(Settings("the cat sat")).labelled(token=words, query=words, key=words))
"""


def test_notebook_cell_shows_the_viewer(browser, tmp_path):
    nbformat, nbclient, nbconvert, _ = map(needed, ("nbformat", "nbclient", "nbconvert", "ipykernel"))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CODE)])
    nbclient.NotebookClient(notebook, timeout=PATIENCE_SECONDS, resources={"metadata": {"path": str(ROOT)}}).execute()
    (output,) = notebook.cells[0].outputs
    size = round(len(output.data["text/html"].encode()) / 1000)
    assert output.data["text/plain"].startswith("attnviz: “</script>")
    exporter = nbconvert.HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", embed_images=False)
    file = tmp_path / "notebook.html"
    file.write_text(exporter.from_notebook_node(notebook)[0], "utf-8")
    context, errors = browser.new_context(offline=True, viewport={"width": 1366, "height": 900}), []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "attnviz" in message.location["url"] else None)
    page.goto(file.as_uri())
    said = page.get_by_text("of the notebook. No frame above?")
    assert abs(int(said.inner_text().split(" takes ")[1].split(" kB")[0]) - size) <= 2
    frame = page.frame_locator("iframe[title^=attnviz]")
    expect(frame.locator("h1")).to_have_text('</script><b>the</b> "cat" sat – attnviz', use_inner_text=True)
    expect(frame.get_by_role("button", name="Present", exact=True)).to_be_visible()
    expect(frame.locator(".share button", has_text="Print")).to_be_hidden()  # a browser would ignore it
    frame.get_by_role("button", name="Scores", exact=True).click()
    expect(frame.locator(".step-text h2")).to_have_text("How well does each key match each query?")
    expect(frame.locator("body > :is(b, img), .viewer b")).to_have_count(0)
    with page.expect_download() as download:
        from_menu(frame, "Download as a page").click()
    assert download.value.suggested_filename.startswith("attnviz script b the b cat")
    context.close()
    assert errors == []
