"""What is set by hand holds on every page until it is undone, without a browser."""

import numpy as np
import pytest
from page import EXAMPLE, ROOT, SHOWN, breakdowns, changes_of, matrices, opened, quiet, texts, warnings

from attnviz import trace_of


@pytest.mark.parametrize("page", ["walkthrough", "take_apart", "audit", "numpy_code"])
def test_changes_hold_on_every_page_until_they_are_taken_back(page):
    after = trace_of(EXAMPLE).with_changes(*changes_of("heads[1]=0;scores[0,1,0]=3.5"))
    address = {"step": "Scores", "trail": "heads[1,2,0]", **SHOWN}
    at = opened(ROOT / "pages" / f"{page}.py", changes="heads[1]=0;scores[0,1,0]=3.5", **address)
    assert quiet(at)
    assert "**Set by hand:** Head outputs of head 2, all of them = 0; scores[head 1, cat, the] = 3.5" in texts(at)
    if page == "walkthrough":
        assert matrices(at)["scores"]["values"] == after["scores"].value[0].tolist()
        assert np.argwhere(matrices(at)["scores"]["marked"]).tolist() == [[1, 0]]
        assert at.code[0].value == "scores = q @ k.swapaxes(-1, -2)\nscores[0, 1, 0] = 3.5  # set by hand"
    if page == "take_apart":
        assert breakdowns(at)["heads[1,2,0]"]["lines"] == [[[], "set by you", "0.0"]]
    if page == "numpy_code":
        assert "scores[0, 1, 0] = 3.5  # set by hand" in at.code[0].value
    at.button(key="reset").click().run()
    assert quiet(at)
    assert not any("Set by hand" in text for text in texts(at))
    assert "changes" not in at.query_params


@pytest.mark.parametrize("page", ["walkthrough", "what_if"])
@pytest.mark.parametrize("changes", ["rubbish", "scores[0,99,0]=1", "heads[0]=0;" * 17, "v[0,0,0]=1e308;x[0,0]=1e308"])
def test_changes_of_a_link_that_cannot_be_made_are_said_once_and_left_out(page, changes):
    at = opened(ROOT / "pages" / f"{page}.py", changes=changes)
    assert warnings(at)
    assert not at.exception
    assert "changes" not in at.query_params
    assert quiet(at.run())


@pytest.mark.parametrize("page", ["walkthrough", "what_if"])
def test_a_change_that_another_sentence_has_no_place_for_is_refused_until_it_fits_again_or_is_reset(page):
    at = opened(ROOT / "pages" / f"{page}.py", changes="scores[0,1,5]=9")
    at.text_input(key="sentence").set_value("the cat").run()
    assert any("scores has axes" in text for text in warnings(at))
    at.text_input(key="sentence").set_value("the cat sat on the hat").run()
    assert quiet(at)
    assert at.query_params["changes"] == "scores[0,1,5]=9"
    at.text_input(key="sentence").set_value("the cat").run()
    at.button(key="reset").click().run()
    assert quiet(at)
    at.text_input(key="sentence").set_value("the cat sat on the hat").run()
    assert "changes" not in at.query_params


def test_another_pass_is_shown_without_the_changes_of_this_one():
    at = opened(changes="scores[0,1,2]=9")
    at.selectbox(key="source").set_value("003 steps").run()
    assert quiet(at)
    assert not any("Set by hand" in text for text in texts(at))
    at = opened(changes="scores[0,1,2]=9", source="003 steps")
    assert any("Set by hand" in text for text in texts(at))
    at.button(key="own_sentence").click().run()
    assert not any("Set by hand" in text for text in texts(at))


def test_a_lesson_says_nothing_of_a_changed_pass_that_is_not_so():
    at = opened(step="Softmax", changes="masked[0,2,1]=-inf")
    assert not any("No mask hides anything" in text for text in texts(at))
    assert any("No mask hides anything" in text for text in texts(opened(step="Softmax")))
    for changes in ("concat[1,0]=9", "output[1,0]=9"):
        assert not any(
            "as the sum of what each head adds" in text for text in texts(opened(step="Output", changes=changes))
        )
    assert any(
        "as the sum of what each head adds" in text for text in texts(opened(step="Output", changes="heads[0]=0"))
    )
