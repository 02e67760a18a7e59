"""What is said beside each band of the sheet: one short sentence, with the numbers of the selected word."""

from collections.abc import Mapping
from types import MappingProxyType

from attnviz.core.layers import split_layer
from attnviz.core.trace import Trace
from attnviz.text.markup import Runs, runs
from attnviz.text.story import Story, selection_story
from attnviz.text.vocabulary import stories_of

_WORD, _KEY, _HEAD = Story("{query}"), Story("{key}"), Story("{head}")

_SAID: Mapping[str, tuple[str, tuple[Story, ...]]] = MappingProxyType(
    {
        "k": ("“{word}” asks with its :blue[**query**]. Every word answers with its :orange[**key**].", ()),
        "w_q": ("What “{word}” enters with, times the :blue[**query parameters**].", ()),
        "w_k": ("What “{key}” enters with, times the :orange[**key parameters**].", ()),
        "w_v": ("What “{key}” enters with, times the :green[**value parameters**].", ()),
        "q sum": ("**Added up**: the :blue[**query**] of “{word}”.", ()),
        "k sum": ("**Added up**: the :orange[**key**] of “{key}”.", ()),
        "v sum": ("**Added up**: the :green[**value**] of “{key}”.", ()),
        "scores": (
            "**Compare**, place by place, and add up: {story}",
            (Story("{value:best} matches best, {value:most}."), Story("{value:most} for {value:alike}.")),
        ),
        "scaled": ("**Scale**: {story}", (Story("for “{key}”, {scores} becomes {value}."),)),
        "masked": (
            "**Mask**: {story}",
            (
                Story("“{query}” sees no key, so every score is −∞.", "unseeing"),
                Story("“{key}” is hidden from “{query}”, so its score is −∞.", "hidden"),
                Story("“{query}” sees “{key}”, whose score stays {value}."),
            ),
        ),
        "#exp": (
            "**Subtract** the largest score, then **exponentiate**: {story}",
            (Story("“{query}” sees no key, so all are 0.", "unseeing"), Story("the largest becomes 1.")),
        ),
        "attention": (
            "**Share**: {story}",
            (
                Story("“{query}” gives “{key}” {value}, as it is set by hand.", "set"),
                Story("“{query}” sees no key, so it gives nothing to any.", "unseeing"),
                Story("divide by the sum. {value:best} gets {value:most}."),
                Story("divide by the sum. {value:alike} get {value:most}."),
            ),
        ),
        "v": (
            "**Collect**: every word passes on its :green[**value**], in that share. Added up, that is what {head} "
            "found for “{word}”.",
            (),
        ),
        "concat": ("**Each head** looked on its own. Side by side, what they found is one row for “{word}”.", ()),
        "contributions": ("**Each head** goes through its own rows of the output parameters.", ()),
        "w_o": ("What the head found, times the **output parameters**.", ()),
        "output": ("**Added up**: the :violet[**output**] of “{word}”.", ()),
        "residual": ("**Added to** what “{word}” came with.", ()),
        "w_u": ("What “{word}” has now, compared with each **answer**.", ()),
        "logits": (
            "**Added up**: {story}",
            (
                Story("“{answer}” has the logit {value}, {value:rank} of {value:count}."),
                Story("“{answer}” has the logit {value}."),
            ),
        ),
        "probabilities": (
            "**Softmax**: {story}",
            (Story("{value:best} gets {value:most}."), Story("{value:alike} get {value:most}.")),
        ),
    }
)
"""By what is shown, a stage without its layer or an array of its rule: a text, and the stories of its `story`."""


def said(trace: Trace, name: str, shows: str = "") -> Runs:
    """What is said beside the band of a stage; of one that has no sentence here, its own stories are told.

    Parameters
    ----------
    trace : Trace
    name : str
    shows : str, optional
        What of the stage the band shows, where that isn't the stage as such: an array of its rule, or a sum.
    """
    names = trace.layer_of(name).names
    own, _ = split_layer(name)
    text, stories = _SAID.get(shows or own, ("{story}", ()))
    stories = [story.renamed(names) for story in stories] or stories_of(trace, name)
    word, key, head = (selection_story(story, of=names["attention"]) for story in (_WORD, _KEY, _HEAD))
    return runs(text, word=word, key=key, head=head, story=selection_story(*stories, of=name))
