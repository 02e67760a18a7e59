"""What stands after the words of a model: its answer, with the probabilities that the core computes."""

from tab import expect

from attnviz.explain.wording import percent
from attnviz.models import MODELS

TIRED = "the animal did not cross the street because it was too tired"
WIDE = "the animal did not cross the street because it was too wide"
RECALL = "g 5 d 6 e 1 a 3 e"


def trace_of_model(model, sentence, seed=0, checkpoint=None):
    return MODELS[model].at(seed, checkpoint).trace(sentence)


def answer_is(page, answer, trace, was="", before=None):
    """Wait until that answer stands where one is asked for, with its share, and what `was` answered before."""
    place, right = next((place, right) for place, right in enumerate(trace.origin.right) if right is not None)
    earlier = f" was {_with_share(was, before, place)}" if was else ""
    tick = "guess" if trace.origin.kind == "drawn" else "✓"
    said = f"{_with_share(answer, trace, place)} {tick if right == answer else '✗'}{earlier}"
    expect(page.locator(".thread .answer")).to_have_text(said, use_inner_text=True)


def first_answer_is(page, answer, trace):
    """Wait until the picture of the training, at the start, has that answer and its share."""
    expect(page.locator(".learns .answer-of button")).to_have_text(answer)
    share = trace["probabilities"].value[-1, trace.labels["answer"].index(answer)]
    expect(page.locator(".learns .read .digits")).to_contain_text(f": {percent(share)} sure.")


def _with_share(answer, trace, place):
    share = trace["probabilities"].value[place, trace.labels["answer"].index(answer)]
    return f"{answer} {percent(share)}"
