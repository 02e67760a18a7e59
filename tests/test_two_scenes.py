"""Two scenes on one page: each is drawn from what it is given, and changed by its own widgets alone."""

from page import plain
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from attnviz.core.changes import parse_change
    from attnviz.scene.fitting import fit
    from attnviz.scene.scene import Scene
    from attnviz.ui.sections import banner, controls
    from attnviz.ui.state import store

    set_by_hand = (parse_change("heads[1]=0"),)
    other = st.session_state.setdefault("other scene", Scene(sentence="der Hund bellt", changes=set_by_hand))
    for shown in (store.read(), store.Shown(**vars(fit(other)), name="other ")):
        banner.draw(shown)
        controls.draw(shown)


def test_two_scenes_are_drawn_and_changed_apart():
    at = AppTest.from_function(page, default_timeout=20)
    at.query_params["sentence"] = "the cat sat"
    at.run()
    assert sum("Set by hand" in plain(each.value) for each in at.markdown) == 1
    at.selectbox(key="other mask").set_value("causal").run()
    at.text_input(key="sentence").set_value("one two three four").run()
    assert not at.exception
    ours, other = at.session_state["scene"], at.session_state["other scene"]
    assert (ours.sentence, ours.options.mask, ours.changes) == ("one two three four", "none", ())
    assert (other.sentence, other.options.mask) == ("der Hund bellt", "causal")
    assert [str(change) for change in other.changes] == ["heads[1]=0"]
    assert at.query_params == {"sentence": "one two three four"}
    at.button(key="other reset").click().run()
    assert at.session_state["other scene"].changes == ()
