"""A notebook shows a pass in a frame: executed, written as HTML and opened in a browser."""

import pytest
from needs import needed
from page import ROOT
from patience import PATIENCE_SECONDS
from tab import expect

CODE = """
from attnviz import Settings, show, trace_of

words = ("</script><b>the</b>", '"cat"', "sat")
show(trace_of(Settings("the cat sat")).labelled(token=words, query=words, key=words))
"""


@pytest.mark.browser
@pytest.mark.slow
def test_a_cell_shows_the_viewer_and_says_its_size(browser, tmp_path):
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
    expect(frame.get_by_role("button", name="Print", exact=True)).to_be_hidden()  # a browser would ignore it
    frame.get_by_role("button", name="Scores", exact=True).click()
    expect(frame.locator(".step-text h2")).to_have_text("How well does each key match each query?")
    expect(frame.locator("body > :is(b, img), .viewer b")).to_have_count(0)
    with page.expect_download() as download:
        frame.get_by_role("button", name="Download as a page").click()
    assert download.value.suggested_filename.startswith("attnviz script b the b cat")
    context.close()
    assert errors == []
