"""Bands: the sentence beside each band of the sheet, with the numbers of the selected word."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.condition import has, hides, hides_none
from attnviz.explain.markup import Runs, runs
from attnviz.explain.steps.mask import selects
from attnviz.explain.steps.neurons import is_relu
from attnviz.explain.story import Story, selection_story
from attnviz.explain.vocabulary import stories_of

_WORD, _KEY, _HEAD = Story("{query}"), Story("{key}"), Story("{head}")


def _scaling(trace: Trace) -> str:
    """The scaling of a score, in words."""
    scale = trace["scaled"].operation
    if scale.factor is None:
        return f"divided by √{scale.d_k}"
    if scale.base:
        return f"times ln {scale.base}, so that exp makes a power of {scale.base}"
    return f"multiplied by {scale.factor:g}".replace("-", "−")


_ASKS = (
    Story("for “{key}”, {scores:part.place} counts most: {scores:part.sum} = {scores:part}."),
    Story("“{key}” with {value} in dimension {column}."),
)
_SET = Story("{value} in dimension {column}, as it is set by hand.", "set")
_SCORE_SET = Story("“{key}” has {value}, as it is set by hand.", "set")
_NORMED = (_SET, Story("{value} in dimension {column}, {left} before."))
_LARGEST = "{sum:part.place} counts most: {sum:part.sum} = {sum:part}."
_ROW_BY_ROW = Story("row by row.")  # where a bias counts most, or what they add up to is set by hand
_PRODUCT = (Story(f"for dimension {{column}}, {_LARGEST}"), _ROW_BY_ROW)
_SUM = (_SET, Story("{value} in dimension {column}."))
_SCORED = (_SCORE_SET, Story("“{key}” has {value}."))

_SENTENCES: Mapping[str, tuple[str, tuple[Story, ...]]] = MappingProxyType(
    {
        "k": (
            "“{word}” asks with its :blue[**query**], every {unit} answers with its :orange[**key**]: {story}",
            _ASKS,
        ),
        "k_normed compared": (
            "“{word}” asks with its normed :blue[**query**], every {unit} answers with its normed :orange[**key**]: "
            "{story}",
            _ASKS,
        ),
        "k_rotated compared": (
            "“{word}” asks with its :blue[**query**], every {unit} answers with its :orange[**key**], each turned by "
            "its position: {story}",
            _ASKS,
        ),
        "latent compared": (
            "“{word}” asks with its absorbed :blue[**query**], every {unit} answers with its latent: {story}",
            _ASKS,
        ),
        **{
            f"{keys} in content_scores": (
                f"**Content**: “{{word}}” asks with its {query}, every {{unit}} answers with its {answer}: {{story}}",
                _ASKS,
            )
            for keys, query, answer in (
                ("k", ":blue[**query**]", ":orange[**key**]"),
                ("k_normed", "normed :blue[**query**]", "normed :orange[**key**]"),
                ("latent", "absorbed :blue[**query**]", "latent"),
            )
        },
        "k_r in position_scores": (
            "**Positions**: “{word}” asks with that part of its :blue[**query**], every {unit} answers with that of "
            "its :orange[**key**]: {story}",
            _ASKS,
        ),
        "k_rotated in position_scores": (
            "**Positions**: “{word}” asks with that part of its :blue[**query**], every {unit} answers with that of "
            "its :orange[**key**], each turned by its position: {story}",
            _ASKS,
        ),
        "w_q": ("What “{word}” enters with, times the :blue[**query parameters**]: {story}", _PRODUCT),
        "w_k": ("What “{key}” enters with, times the :orange[**key parameters**]: {story}", _PRODUCT),
        "w_v": ("What “{key}” enters with, times the :green[**value parameters**]: {story}", _PRODUCT),
        "w_dkv": ("What “{key}” enters with, times the **latent parameters**: {story}", _PRODUCT),
        "w_dq": ("What “{word}” enters with, times the **query latent parameters**: {story}", _PRODUCT),
        "w_uq": ("The query latent of “{word}”, times the head’s **query parameters**: {story}", _PRODUCT),
        "w_qr times q_latent": (
            "The query latent of “{word}”, times the :blue[**position query parameters**]: {story}",
            _PRODUCT,
        ),
        "w_uk": ("The latent of “{key}”, times the head’s **key parameters**: {story}", _PRODUCT),
        "w_uk times q": ("The :blue[**query**] of “{word}”, times the head’s **key parameters**, transposed", ()),
        "w_uv": ("The latent of “{key}”, times the head’s **value parameters**: {story}", _PRODUCT),
        "w_uv times latent_heads": ("What the head collected, times its **value parameters**: {story}", _PRODUCT),
        "w_qr": ("What “{word}” enters with, times the :blue[**position query parameters**]: {story}", _PRODUCT),
        "w_kr": ("What “{key}” enters with, times the :orange[**position key parameters**]: {story}", _PRODUCT),
        "latent of each": (
            "The **latent** of each {unit}: {story}",
            (Story("“{key}” has {value} in dimension {column}."),),
        ),
        "q_compressed from": ("Where the **query latent** of “{word}” is from", ()),
        "q_compressed sum": ("**Added up**: {story}", _SUM),
        "compressed from": ("Where the **latent** of “{key}” is from", ()),
        "q_r from": ("Where the part for positions of the :blue[**query**] of “{word}” is from", ()),
        "k_r from": ("Where the part for positions of the :orange[**key**] of “{key}” is from", ()),
        "compressed sum": ("**Added up**: {story}", _SUM),
        "q_absorbed sum": ("**Added up**: the absorbed :blue[**query**] of “{word}”, {story}", _SUM),
        "q_r sum": ("**Added up**: the part for positions, {story}", _SUM),
        "k_r sum": ("**Added up**: the part for positions, {story}", _SUM),
        "latent collected": (
            "**Collect**: every {unit} passes on its latent, in that share: {story} Added up, that is what {head} "
            "collected for “{word}”.",
            (Story("“{key}” {attention} × {value} in dimension {column}."),),
        ),
        "heads": ("**Added up**: what {head} found for “{word}”, {story}", _SUM),
        "heads of LastQuotient": (
            "**Divide** what was collected by the sum, both after the last block: what {head} found for “{word}”, "
            "{story}",
            _SUM,
        ),
        "content_scores": ("**Compare** contents, dimension by dimension, and add up: {story}", _SCORED),
        "position_scores": ("**Compare** positions, dimension by dimension, and add up: {story}", _SCORED),
        "scores of Addition": ("**Add** both scores: {story}", _SCORED),
        "q from": ("Where the :blue[**query**] of “{word}” is from", ()),
        "k from": ("Where the :orange[**key**] of “{key}” is from", ()),
        "v from": ("Where the :green[**value**] of “{key}” is from", ()),
        "output from": ("What the :violet[**output**] of “{word}” takes from each head", ()),
        "w_o of heads": (
            "What the heads found, side by side, times the **output parameters**: {story}",
            _PRODUCT,
        ),
        **dict.fromkeys(
            ("q_normed", "k_normed", "latent", "q_latent"),
            ("**Norm**: each number over the root of the mean of the squares: {story}", _NORMED),
        ),
        "q_rotated row": ("**Turned** by the position of “{word}”: {story}", _SUM),
        "k_rotated row": ("**Turned** by the position of “{key}”: {story}", _SUM),
        "q sum": ("**Added up**: the :blue[**query**] of “{word}”, {story}", _SUM),
        "k sum": ("**Added up**: the :orange[**key**] of “{key}”, {story}", _SUM),
        "v sum": ("**Added up**: the :green[**value**] of “{key}”, {story}", _SUM),
        "scores": (
            "**Compare**, dimension by dimension, and add up. {story}",
            (
                Story("“{query}” may see no {unit}.", "unseeing"),
                Story("“{query}” scores {value} with “{key}”, as it is set by hand.", "set"),
                Story("Best match{value:es} of the {unit}s it may see: {value:best}, {value:most}.", of=hides),
                Story("Of the {unit}s it may see: {value:most} for {value:alike}.", of=hides),
                Story("Best match{value:es}: {value:best}, {value:most}.", of=hides_none),
                Story("{value:most} for {value:alike}."),
            ),
        ),
        "scaled": ("**Scale**: {story}", (_SCORE_SET, Story("{scaling}, “{key}” has {value}."))),
        "masked": (
            "**Mask**: {story}",
            (
                Story("“{query}” sees no key, so every score is −∞.", "unseeing"),
                Story("“{key}” is hidden from “{query}”, so its score is −∞.", "hidden"),
                Story("“{query}” gives “{key}” the score {value}, as it is set by hand.", "set"),
                Story("“{query}” sees “{key}”, whose score stays {value}.", of=selects),
                Story("“{query}” sees “{key}”: with what the mask adds, {mask}, its score is {value}."),
            ),
        ),
        "#exp": (
            "**Subtract** the largest{story}, and **exponentiate**.",
            (
                Story(", though “{query}” sees no key", "unseeing"),
                Story(" score, {masked:most}, or the sink, {sinks}, whichever is larger", of=has("sinks")),
                Story(", {masked:most}"),
            ),
        ),
        "attention": (
            "**Share**: {story}",
            (
                Story("“{query}” gives “{key}” {value}, as it is set by hand.", "set"),
                Story("“{query}” sees no key, so the sink takes all of its row.", "unseeing", of=has("sinks")),
                Story("“{query}” sees no key, so it gives nothing to any.", "unseeing"),
                Story(
                    "divide by the sum, in which the sink counts. Largest share{value:s}: {value:best}, {value:most}; "
                    "the sink takes {sink_share:percent}.",
                    of=has("sinks"),
                ),
                Story(
                    "divide by the sum, in which the sink counts: {value:most} for {value:alike}; the sink takes "
                    "{sink_share:percent}.",
                    of=has("sinks"),
                ),
                Story("divide by the sum. Largest share{value:s}: {value:best}, {value:most}."),
                Story("divide by the sum: {value:most} for {value:alike}."),
            ),
        ),
        "v": (
            "**Collect**: every {unit} passes on its :green[**value**], in that share: {story} Added up, that is what "
            "{head} found for “{word}”.",
            (Story("“{key}” {attention} × {value} in dimension {column}."),),
        ),
        "concat": (
            "**Each head** looked on its own: {story} Side by side, what they found is one row for “{word}”.",
            (Story("{head} gives “{key}” {attention:percent} and finds {value} in dimension {column}."),),
        ),
        "contributions": (
            "**Each head** goes through its own rows of the output parameters: {story}",
            (
                Story("{head} adds {value} in dimension {column}, as it is set by hand.", "set"),
                Story("{head} adds {value} in dimension {column}."),
            ),
        ),
        "w_o": ("What the head found, times the **output parameters**: {story}", _PRODUCT),
        "output": ("**Added up**: the :violet[**output**] of “{word}”, {story}", _SUM),
        "#square": ("**Square** each number of “{word}”, and add up.", ()),
        "#square of LayerNorm": ("**Subtract** the mean, **square**, and add up.", ()),
        "LayerNorm": ("**Norm**: less the mean, and over the root of the mean of the squares: {story}", _NORMED),
        "mlp_norm": ("**Norm**: each number over the root of the mean of the squares: {story}", _NORMED),
        "w_hidden": (
            "What the MLP reads of “{word}”, times a column for each **neuron**: {story}",
            (Story(f"for neuron {{column}}, {_LARGEST}"), _ROW_BY_ROW),
        ),
        "hidden": (
            "**Added up**: {story}",
            (
                Story("neuron {column} gets {value}, as it is set by hand.", "set"),
                Story("neuron {column} gets {value}."),
            ),
        ),
        "active": (
            "**Fire**: {story}",
            (
                Story("neuron {column} passes on {value}, as it is set by hand.", "set"),
                Story("{value:positive} neurons pass something on.", of=is_relu),
                Story("neuron {column} passes on {value}."),
            ),
        ),
        "w_mlp": ("What each neuron passes on, times its row: {story}", _PRODUCT),
        "mlp": ("**Added up**: what the MLP adds to “{word}”, {story}", _SUM),
        "mlp_residual": (
            "**Added**: {story}",
            (_SET, Story("“{query}” had {left} in dimension {column}, and the MLP adds {right}.")),
        ),
        "residual": (
            "**Added**: {story}",
            (_SET, Story("“{query}” came with {left} in dimension {column} and gets {right}.")),
        ),
        "w_u": (
            "Each **answer** has a column; what “{word}” has now is compared with it: {story}",
            (Story(f"for “{{column}}”, {_LARGEST}"), _ROW_BY_ROW),
        ),
        "logits": (
            "**Added up**: {story}",
            (
                Story("“{answer}” has the logit {value}, as it is set by hand.", "set"),
                Story("“{answer}” has the logit {value}, {value:rank} of {value:count}."),
                Story("“{answer}” has the logit {value}."),
            ),
        ),
        "probabilities": (
            "**Softmax**. {story}",
            (
                Story("“{answer}” has {value:percent}, as it is set by hand.", "set"),
                Story("Most probable: {value:best}, {value:most}."),
                Story("{value:most} for {value:alike}."),
            ),
        ),
    }
)
"""By what is shown, a stage without its layer or an array of its rule: a text, and the stories of its `story`."""


def sentence(trace: Trace, name: str, shows: str = "", **slots: str) -> Runs:
    """The sentence beside the band of a stage; one that has none here has its own stories.

    Parameters
    ----------
    trace : Trace
    name : str
    shows : str, optional
        What of the stage is shown, where that isn't the stage as such: an array of its rule, a sum, its sources.
    **slots : str
        Other slots of its stories, and the stages that they are for: `sum` is what a matrix's products add up to.
    """
    layer = trace.layer_of(name)
    names = layer.names | slots
    base, _ = split_layer(name)
    keys = (shows, f"{base} of {type(trace[name].operation).__name__}", base)
    text, stories = next((_SENTENCES[key] for key in keys if key in _SENTENCES), ("{story}", ()))
    stories = [story.renamed(names) for story in stories if story.of(layer.trace)] or stories_of(trace, name)
    filled = {"{unit}": trace.origin.unit, "{scaling}": _scaling(layer.trace) if base == "scaled" else ""}
    for slot, words in filled.items():
        text, stories = (
            text.replace(slot, words),
            [replace(each, text=each.text.replace(slot, words)) for each in stories],
        )
    word, key, head = (selection_story(story, of=names["attention"]) for story in (_WORD, _KEY, _HEAD))
    of = layer.names["heads"] if base == "concat" else name  # which finds the numbers that it places side by side
    return runs(text, word=word, key=key, head=head, story=selection_story(*stories, of=of))


def marks(stage: Stage) -> str:
    """The sentence in place of that, where any of the numbers shown are somebody's; empty where nobody computed them.

    Parameters
    ----------
    stage : Stage
    """
    if not stage.overridden_by:
        return ""
    return f"{'These numbers are' if stage.is_overridden_whole else 'What is marked is'} {stage.overridden_by}."
