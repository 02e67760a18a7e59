"""How often the browser lays a page out: another pass is written first, and asks where it stands once."""

from urllib.parse import parse_qsl

import pytest
from documents import document, fitted_at

pytestmark = pytest.mark.browser

ASKS = """async ([one, other]) => {
    for (const each of [other, one]) {
        show(each);
        await drawn();
    }
    const watcher = new MutationObserver(() => {});
    const all = { subtree: true, childList: true, characterData: true, attributes: true, attributeOldValue: true };
    watcher.observe(document, all);
    const isChange = ({ type, target, attributeName, oldValue }) =>
        type !== "attributes" || target.getAttribute(attributeName) !== oldValue;
    const asks = [], put = [];
    const watch = (owner, name, isCalled) => {
        const before = Object.getOwnPropertyDescriptor(owner, name), part = isCalled ? "value" : "get";
        put.push(() => Object.defineProperty(owner, name, before));
        Object.defineProperty(owner, name, { ...before, [part]: function () {
            if (watcher.takeRecords().some(isChange)) asks.push(`${name} of ${this.getAttribute("class")}`);
            return before[part].call(this);
        } });
    };
    for (const side of ["Width", "Height", "Left", "Top"]) {
        watch(HTMLElement.prototype, `offset${side}`);
        for (const kind of ["client", "scroll"]) watch(Element.prototype, kind + side);
    }
    watch(Element.prototype, "getBoundingClientRect", true);
    show(other);
    watcher.disconnect();
    for (const back of put) back();
    return asks;
}"""
"""What is asked of the layout while a document is drawn again, each time after something was written since the last."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "other"),
    [
        ("step=softmax", {"step": "softmax", "mask": "causal"}),
        ("step=softmax", {"step": "softmax", "heads": "4"}),
        ("step=qkv", {"step": "qkv", "seed": "5"}),
        ("model=who-is-it&step=softmax", {"model": "who-is-it", "step": "softmax", "checkpoint": "2"}),
        ("model=microgpt&sentence=ka", {"model": "microgpt", "sentence": "kay"}),
    ],
)
def test_another_pass_is_laid_out_once_while_it_is_drawn(opened, address, other):
    page = opened(f"?{address}")
    asked = page.evaluate(ASKS, [document(fitted_at(each)) for each in (dict(parse_qsl(address)), other)])
    assert len(asked) <= 1, asked


MAPS = """async ([documents, diagram]) => {
    const told = async (document) => {
        show(document);
        for (let i = 0; i < 3; i += 1) await drawn();
        const here = window.document.querySelector(diagram);
        return [here.innerHTML, [...here.querySelectorAll(".step")]];
    };
    const anew = async (document) => {
        viewer.end();
        mountAgain(null);
        return (await told(document))[0];
    };
    const kept = [], before = [], after = [];
    let stood = (await told(documents[0]))[1];
    for (const each of documents.slice(1)) {
        const [text, steps] = await told(each);
        kept.push(steps.filter((step) => stood.includes(step)).length);
        before.push(text);
        stood = steps;
    }
    for (const each of documents.slice(1)) after.push(await anew(each));
    return [kept, before, after];
}"""
"""How many steps of a map stay as other documents are shown, one after the other; what it is then, and drawn anew."""


@pytest.mark.slow
@pytest.mark.parametrize(("step", "diagram"), [("softmax", ".map .diagram"), ("whole-pass", ".whole .diagram")])
def test_steps_that_another_pass_has_too_stay_on_the_map_which_is_as_if_drawn_anew(opened, step, diagram):
    passes = [{}, {"mask": "causal"}, {"mask": "causal", "heads": "4"}, {"seed": "5"}, {"layers": "2"}, {}]
    page = opened(f"?step={step}")
    kept, written, anew = page.evaluate(
        MAPS, [[document(fitted_at({"step": step} | each)) for each in passes], diagram]
    )
    assert written == anew
    n_steps = [each.count('class="step"') for each in written]
    assert kept[0] == n_steps[0] - 1  # the mask's own is new
    assert kept[1] == n_steps[1]  # as many as there are
    assert kept[2] == n_steps[2]
