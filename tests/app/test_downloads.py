"""Downloads: what is made is of the pass that is shown when it is asked for, and no pass is held for it."""

import io

import numpy as np
import pytest

from attnviz import Settings, trace_of
from attnviz.app import sections
from attnviz.scene.actions.session import Session
from attnviz.scene.scene import Scene


@pytest.fixture
def offered(monkeypatch):
    """What makes each file, as Streamlit is given it."""
    makers = {}
    monkeypatch.setattr(sections.st, "download_button", lambda _, make, name, **__: makers.update({name: make}))
    return makers


def test_what_is_downloaded_is_of_what_acts_have_made_since_the_page_was_drawn(offered):
    place = Session(Scene(sentence="the cat sat"))
    sections.offer_arrays(place)
    for words in ("the cat sat", "a dog"):
        place.update(sentence=words)
        trace = trace_of(Settings(words))
        arrays = np.load(io.BytesIO(offered["attnviz.npz"]()))
        assert all((arrays[stage.name] == stage.value).all() for stage in trace.stages)
        assert tuple(arrays["words_query"]) == trace.labels["query"]


def test_where_there_is_no_pass_a_file_is_empty(offered):
    sections.offer_arrays(Session(Scene(sentence="")))
    assert [make() for make in offered.values()] == [b""]
