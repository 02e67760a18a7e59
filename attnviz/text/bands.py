"""What is said beside each band of the sheet: one short sentence, with the numbers of the selected word."""

from collections.abc import Mapping
from types import MappingProxyType

from attnviz.core.layers import split_layer
from attnviz.core.trace import Trace
from attnviz.text.markup import Runs, runs
from attnviz.text.story import Story, told
from attnviz.text.vocabulary import stories_of

_WORD, _HEAD = Story("{query}"), Story("{head}")

_SAID: Mapping[str, tuple[str, tuple[Story, ...]]] = MappingProxyType(
    {
        "k": ("“{word}” asks with its :blue[**query**]. Every word answers with its :orange[**key**].", ()),
        "scores": (
            "**Compare**, place by place, and add up: {told}",
            (Story("{value:best} matches best, {value:most}."), Story("{value:most} for {value:alike}.")),
        ),
        "scaled": ("**Scale**: {told}", (Story("for “{key}”, {scores} becomes {value}."),)),
        "masked": (
            "**Mask**: {told}",
            (
                Story("“{query}” sees no word, so every score is −∞.", "unseeing"),
                Story("“{key}” is hidden from “{query}”, so its score is −∞.", "hidden"),
                Story("“{query}” sees “{key}”, whose score stays {value}."),
            ),
        ),
        "#exp": ("**Exponentiate**: all become positive, and large ones grow.", ()),
        "attention": (
            "**Share**: divide by the sum. {told}",
            (
                Story("“{query}” sees no key, so it gives nothing to any.", "unseeing"),
                Story("{value:best} gets {value:most}."),
                Story("{value:alike} get {value:most}."),
            ),
        ),
        "v": (
            "**Collect**: every word passes on its :green[**value**], in that share. Added up, that is what {head} found "
            "for “{word}”.",
            (),
        ),
        "concat": ("**Each head** looked on its own. What they found for “{word}” stands side by side.", ()),
        "contributions": ("**Each head** goes through its own rows of the output parameters.", ()),
        "w_o": ("What the head found, at the left, times the **output parameters**.", ()),
        "output": ("**Added up**: the :violet[**output**] of “{word}”.", ()),
        "residual": ("**Added to** what “{word}” came with.", ()),
        "w_u": ("Each **answer** has a column; what “{word}” has now, at the left, is compared with it.", ()),
        "logits": (
            "**Added up**: the logits. {told}",
            (Story("“{answer}” has {value}, {value:rank} of {value:count}."), Story("“{answer}” has {value}.")),
        ),
        "probabilities": (
            "**Softmax** makes probabilities. {told}",
            (Story("{value:best} gets {value:most}."), Story("{value:alike} get {value:most}.")),
        ),
    }
)
"""By a stage's name without its layer, or an array of its rule: a text, and the stories that its slot `told` has."""


def said(trace: Trace, name: str, array: str = "") -> Runs:
    """What is said beside the band of a stage; of one that has no sentence here, its own stories are told."""
    names = trace.layer_of(name).names
    own, _ = split_layer(name)
    text, stories = _SAID.get(array or own, ("{told}", ()))
    stories = [story.renamed(names) for story in stories] or stories_of(trace, name)
    word, head = (told(story, of=names["attention"]) for story in (_WORD, _HEAD))
    return runs(text, word=word, head=head, told=told(*stories, of=name))
