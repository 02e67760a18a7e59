"""Two scenes on one page: each is drawn from what it is given, and changed by its own widgets alone."""

from page import plain
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from attnviz.scene.fitting import fit
    from attnviz.scene.scene import Scene
    from attnviz.text.steps import steps_of
    from attnviz.ui.sections import banner, changes, controls, lesson, provenance, steps
    from attnviz.ui.state import store

    other = st.session_state.setdefault("other scene", Scene(sentence="der Hund bellt", step="scores"))
    for shown in (store.read(), store.Shown(**vars(fit(other)), name="other ")):
        lessons = steps_of(shown.trace)
        banner.draw(shown)
        controls.sentence_and_settings(shown)
        steps.row(shown, lessons)
        steps.turn(shown, lessons, "top", ("Left", "Right") if not shown.name else ("Up", "Down"))
        changes.setter(shown)
        provenance.start(shown, provenance.trail(shown))
        lesson.draw(shown, next(each for each in lessons if each.id == shown.scene.step))


def test_two_scenes_are_drawn_and_changed_apart():
    at = AppTest.from_function(page, default_timeout=20).run()
    assert not at.exception
    at.selectbox(key="other pick_query").set_value(0).run()
    at.button(key="other Next_top").click().run()
    at.button(key="other mute_1").click().run()
    at.text_input(key="sentence").set_value("one two three four").run()
    assert not at.exception
    ours, other = at.session_state["scene"], at.session_state["other scene"]
    assert (ours.sentence, ours.selection.query, ours.step, ours.changes) == ("one two three four", 1, "tokens", ())
    assert (other.sentence, other.selection.query, other.step) == ("der Hund bellt", 0, "scaling")
    assert [str(change) for change in other.changes] == ["heads[1]=0"]
    assert at.query_params == {"sentence": "one two three four"}
    assert sum("Set by hand" in plain(each.value) for each in at.markdown) == 1
