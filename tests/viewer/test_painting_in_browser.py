"""The brush: strokes over the mask by mouse, keys and finger, told to the server as the act that they are."""

from alone import sent, show
from playwright.sync_api import expect

PAINTED = {"sentence": "the cat sat", "hidden": "011.001", "step": "mask"}
PLACE = "?step=mask&cell=2.1.1.1.1"


def cell(page, query, key):
    return page.locator(f'.picture [data-stage="mask"] td[data-row="{query}"][data-column="{key}"]')


def strokes(page):
    return [message for name, message in sent(page) if name == "paint"]


def middle(found):
    box = found.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_strokes_paint_all_heads_or_one(opened):
    page = opened(PLACE, **PAINTED)
    cell(page, 2, 0).click()
    page.mouse.move(*middle(cell(page, 0, 1)))
    page.mouse.down()
    page.mouse.move(*middle(cell(page, 0, 2)))
    page.mouse.up()
    page.get_by_role("button", name="head 2").click()
    cell(page, 1, 1).focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    assert strokes(page) == [
        {"head": None, "cells": [[2, 0]], "hides": True},
        {"head": None, "cells": [[0, 1], [0, 2]], "hides": False},
        {"head": 1, "cells": [[1, 1]], "hides": True},
        {"head": 1, "cells": [[1, 2]], "hides": False},
    ]


def test_painting_covers_all_layers_and_hiding_one(opened):
    layers = {"sentence": "the cat sat", "layers": "2", "mask": "causal"}
    page = opened("?step=mask-2&cell=1.3.2.1.1&ask=whatif", hidden="011.001", **layers)
    page.locator('.picture [data-stage="mask_2"] td[data-row="2"][data-column="0"]').click()
    assert strokes(page) == [{"head": None, "cells": [[2, 0]], "hides": True}]
    expect(page.locator(".brush")).to_contain_text("All layers have it.")
    page = opened("?step=softmax-2&cell=1.3.2.1.1&ask=whatif", **layers)
    page.get_by_role("button", name="Hide “cat” from “sat” in layer 2").click()
    assert sent(page)[-1] == ["change", {"cell": "mask_2[2,1]", "value": 0}]


def test_stroke_selects_no_text(opened):
    page = opened(PLACE, **PAINTED)
    page.mouse.move(*middle(cell(page, 0, 0)))
    page.mouse.down()
    page.mouse.move(*middle(cell(page, 2, 2)), steps=3)
    page.mouse.up()
    assert len(strokes(page)) == 1
    assert page.evaluate("String(getSelection())") == ""


def test_finger_paints(opened):
    page = opened(PLACE, **PAINTED)
    from_, to = middle(cell(page, 1, 0)), middle(cell(page, 2, 1))
    client = page.context.new_cdp_session(page)

    def touch(kind, *points):
        at = [{"x": x, "y": y} for x, y in points]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

    touch("touchStart", from_)
    touch("touchMove", to)
    touch("touchEnd")
    page.wait_for_function("sent.length > 0")
    assert strokes(page)[0] == {"head": None, "cells": [[1, 0], [2, 1]], "hides": True}


def test_paint_clear_and_undo_buttons(opened):
    page = opened("?step=softmax", sentence="the cat sat")
    page.get_by_role("button", name="Paint the mask").click()
    assert strokes(page) == [True]
    page = opened(PLACE, **PAINTED)
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="As it was").click()
    everywhere, was = strokes(page)
    assert was is None
    assert everywhere == {"head": None, "cells": [[q, k] for q in range(3) for k in range(3)], "hides": False}


def test_brush_appears_on_hover_while_presenting(opened):
    page = opened(f"{PLACE}&view=matrices&present=1", **PAINTED)
    brush = page.locator(".brush")
    expect(brush).to_have_css("opacity", "0")
    cell(page, 2, 0).hover()
    expect(brush).to_have_css("opacity", "1")
    brush.get_by_role("button", name="Clear").click()
    cell(page, 2, 0).click()
    assert len(strokes(page)) == 2


def test_no_mask_step_no_brush(opened):
    for shown in ({"source": "004 softmax"}, {"sentence": "the cat sat"}):
        page = opened("?step=tokens", **shown)
        assert not page.locator(".brush").is_visible()


def test_painted_mask_is_in_the_address(visit, server):
    page = visit().page
    page.goto(f"{server}/walkthrough?sentence=the+cat+sat&hidden=0&step=mask&view=matrices")
    expect(cell(page, 1, 0)).to_have_text("1")
    cell(page, 1, 0).click()
    expect(cell(page, 1, 0)).to_have_text("0")
    page.wait_for_url("**hidden=.1*")
    page.go_back()
    expect(cell(page, 1, 0)).to_have_text("1")
    page.wait_for_url("**hidden=0*")


FACES = (
    """(cells) => Object.fromEntries(cells.map((each) => [each.dataset.place, each.classList.contains("hidden")]))"""
)


def test_hidden_cells_follow_the_head(opened):
    page = opened(PLACE, **PAINTED)
    cells = page.locator('.picture [data-stage="masked"] td')
    for hidden, shown in (("011.001", 2), ("100.110", 2), ("100.110", 1)):
        show(page, **PAINTED | {"hidden": hidden})
        page.get_by_role("radio", name=f"head {shown}").click()
        rows = f"{hidden}.000".split(".")
        expected = {f"masked[{shown - 1},{i},{j}]": rows[i][j] == "1" for i in range(3) for j in range(3)}
        assert cells.evaluate_all(FACES) == expected
