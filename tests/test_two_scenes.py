"""Two scenes on one page: each is drawn from what it is given, and changed by what is done in its own settings."""

import pytest
from page import answer_of, boxes, components, did, scene_of, values
from streamlit.testing.v1 import AppTest

from attnviz.scene.answer import PARTS


def page(part):
    from attnviz.core.changes import parse_change
    from attnviz.scene.scene import Scene
    from attnviz.scene.tabscene import TabScene
    from attnviz.ui import component
    from attnviz.ui.state import store, tabs

    other = TabScene("other ", Scene(sentence="der Hund bellt", changes=(parse_change("heads[1]=0"),)))
    other = tabs.mine().places.setdefault("other ", other)
    for shown in (store.read(), store.Shown(**vars(other.fitted()), place=other)):
        if part == "pass":
            component.draw(shown)
        else:
            component.draw_settings(shown, part)
            component.draw_outlet(shown)


@pytest.fixture(params=PARTS)
def at(request):
    at = AppTest.from_function(page, kwargs={"part": request.param}, default_timeout=20)
    at.query_params["sentence"] = "the cat sat"
    return at.run()


def test_two_scenes_are_drawn_and_changed_apart(at):
    view = answer_of(at)["view"]
    assert {answer_of(at, name)["byHand"] is None for name in ("", "other ")} == (
        {True} if view == "pass" else {True, False}
    )
    assert len(components(at)) == (2 if view == "pass" else 4)
    assert values(did(at, "mask", "causal", "other "))["mask"] == "causal"
    assert values(did(at, "sentence", "one two three four"))["mask"] == "none"
    at.run()
    assert not at.exception
    ours, other = scene_of(at), scene_of(at, "other ")
    assert (ours.sentence, ours.options.mask, ours.changes) == ("one two three four", "none", ())
    assert (other.sentence, other.options.mask) == ("der Hund bellt", "causal")
    assert [str(change) for change in other.changes] == ["heads[1]=0"]
    assert at.query_params == {"sentence": "one two three four"}
    did(at, "reset", True, "other ")
    assert scene_of(at, "other ").changes == ()


def test_each_is_answered_under_its_own_name_with_its_own_settings_and_notices(at):
    assert {answer_of(at, name)["name"] for name in ("", "other ")} == {"", "other "}
    said = did(at, "seed", "abc", "other ")
    assert said["name"] == "other "
    assert ["got 'abc'" in text for text in said["notices"]] == [True]
    ours = did(at, "mask", "window")
    assert (ours["notices"], values(ours)["seed"]) == ([], "42")
    assert boxes(ours).keys() - boxes(said).keys() == {"mask_size"}
