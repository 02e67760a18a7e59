"""Mask: which keys a query may see."""

import numpy as np

from attnviz.core.masks import CUSTOM_MASK_RECIPE
from attnviz.core.stage import name_in_layer, split_layer
from attnviz.core.trace import Stage, Trace
from attnviz.explain.step import Entries, Entry, Section, Step, Term
from attnviz.explain.steps.scaling import is_unscaled
from attnviz.explain.story import Condition, Story, both, renamed, unless
from attnviz.explain.texts import of_two_texts, query_noun, writes
from attnviz.explain.wording import counted, listed


def masks(trace: Trace) -> bool:
    """Whether the mask changes any score."""
    mask = trace["mask"].value
    return bool(not mask.all() if mask.dtype == bool else np.any(mask != 0))


def before(trace: Trace) -> Stage:
    """The scores before the mask."""
    return trace.inputs("masked")[0]


def moves(trace: Trace) -> bool:
    """Whether the masked scores differ from those before the mask: by the mask, or set by hand."""
    return masks(trace) or not np.array_equal(trace["masked"].value, before(trace).value)


def selects(trace: Trace) -> bool:
    """Whether the mask hides keys and changes no other scores."""
    return trace["mask"].value.dtype == bool


def is_painted(trace: Trace) -> bool:
    """Whether the user painted the mask, which may hide nothing yet."""
    return trace["mask"].operation.recipe == CUSTOM_MASK_RECIPE


def _renumbers(trace: Trace) -> bool:
    """Whether a visible score may differ from the one before: by an additive mask, or set by hand."""
    masked = trace["masked"].value
    is_set = np.isfinite(masked) & (masked != before(trace).value)
    return moves(trace) and (not selects(trace) or bool(is_set.any()))


def _lies_on(name: str) -> Condition:
    return lambda trace: before(trace).name == name


_BEFORE = (  # the scores that the mask may apply to: their name, stage and condition
    ("biased score", "biased", _lies_on("biased")),
    ("capped score", "capped", _lies_on("capped")),
    ("scaled score", "scaled", both(_lies_on("scaled"), unless(is_unscaled))),
    ("score", "scaled", both(_lies_on("scaled"), is_unscaled)),
)


def _others(trace: Trace) -> dict[int, str]:
    masks = {
        layer: stage for stage in trace.stages for base, layer in (split_layer(stage.name),) if base == "mask" and layer
    }
    others = [n for n, each in masks.items() if not np.array_equal(each.value, trace["mask"].value)]
    return {layer: name_in_layer("masked", layer) for layer in others}


def differs(trace: Trace) -> bool:
    """Whether any layer has a different mask."""
    return bool(_others(trace))


def _by_layer(trace: Trace, entries: Entries) -> str:
    """How many keys the last query sees here and in layers with other masks."""
    layers_seeing: dict[int, list[str]] = {}
    for layer, name in _others(trace).items():
        layers_seeing.setdefault(_seen_last(trace[name]), []).append(str(layer))
    by_number = [f"{n} in layer{'s' * (len(each) > 1)} {listed(each)}" for n, each in layers_seeing.items()]
    seen = counted(_seen_last(trace["masked"]), "key")
    return (
        f"Masks differ by layer: here the last {{unit}} sees {seen}, and {listed(by_number)} (a layer without the "
        "window of others is **global**)."
    )


def _seen_last(masked: Stage) -> int:
    return int(np.isfinite(masked.value[0, -1]).sum())


def _is_causal(trace: Trace) -> bool:
    """Whether a text that is written sees of itself what is written so far, no more and no less."""
    mask = trace["mask"].value
    return writes(trace) and np.array_equal(mask, np.tri(len(mask), dtype=bool))


def _so_far(trace: Trace, entries: Entries) -> str:
    called = query_noun(trace)
    return (
        f"This mask is **causal**: each {called} sees itself and those before it, as those after it are not written "
        "yet when its turn comes."
    )


def _of_this_layer(trace: Trace, entries: Entries) -> str:
    mask = trace["mask"].value
    hidden = int(np.count_nonzero(~mask if mask.dtype == bool else np.isneginf(mask)))
    return f"Each layer has a mask of its own; this one hides {hidden} of {mask.size} pairs."


def scored(text: str, of: Condition) -> tuple[Story, ...]:
    """A story about the scores that the softmax reads, once for each name that they may have, in place of `%(score)s`.
    `%(before)s` introduces the dot product. If no mask changes the scores, their slot leads to those before the mask.
    """
    kinds = [("masked score", "masked", _renumbers)]
    for called, stage, lies_on in _BEFORE:
        kinds += [
            (called, "masked", both(moves, unless(_renumbers), lies_on)),
            (called, stage, both(unless(moves), lies_on)),
        ]
    stories = []
    for called, read, kind in kinds:
        dot_product = "Before scaling it was" if called == "scaled score" else "Its dot product is"
        words = text % {"score": called, "before": dot_product}
        stories.append(Story(renamed(words, {"masked": read}), of=both(of, kind)))
    return tuple(stories)


MASK = Step(
    id="mask",
    title="Mask",
    heading="Hide what may not be seen",
    why="A score of −∞ makes an attention weight of exactly 0, so a {unit} takes nothing from what it may not see.",
    text=(
        Section(
            "selects",
            "A hidden key's score becomes $-\\infty$, so that its attention weight will be exactly 0. In the mask, 1 "
            "means visible, 0 hidden.",
            selects,
        ),
        Section(
            "added",
            "This mask is **added** to the scores: 0 leaves a score as it is, and $-\\infty$ hides the key, so that "
            "its attention weight will be exactly 0.",
            unless(selects),
        ),
        Section(
            "kinds",
            "A **causal** mask hides later {unit}s, which a model that writes the next {unit} must not read; a "
            "**padding** mask hides fillers at the end; a **window** hides {unit}s far away; a **causal window** hides "
            "both, later and far ones.",
            both(unless(differs), unless(of_two_texts)),
        ),
        Section("by layer", _by_layer, both(differs, unless(of_two_texts))),
        Section("so far", _so_far, _is_causal),
        Section("of two texts", _of_this_layer, both(of_two_texts, unless(_is_causal))),
    ),
    stages=("masked",),
    entries={
        "mask": Entry("M", "Mask", "which keys a query sees", scale="flag", kind="input"),
        "masked": Entry(
            "Z^M_i", "Masked scores", "the scores that attention is made from, −∞ where a key is hidden", one="masked"
        ),
    },
    stories={
        "mask": (
            Story("For “{query}” and “{key}” the mask holds {value}: 1 is visible, 0 is hidden.", of=selects),
            Story("To the score of “{query}” with “{key}” the mask adds {value}; −∞ hides a key.", of=unless(selects)),
        ),
        "masked": (
            Story("“{key}” is hidden from “{query}”, so its masked score is −∞.", "hidden"),
            *(
                Story(f"No mask hides “{{key}}”, so its {called} stays {{value}}.", of=both(unless(moves), lies_on))
                for called, _, lies_on in _BEFORE
            ),
            *(
                Story(f"“{{query}}” sees “{{key}}”, so its {called} stays {{value}}.", of=both(selects, lies_on))
                for called, _, lies_on in _BEFORE
            ),
            Story(
                "“{query}” sees “{key}”: with what the mask adds, {mask}, its masked score is {value}.",
                of=unless(selects),
            ),
        ),
    },
    when=lambda trace: moves(trace) or is_painted(trace),
    band_texts={
        "masked": (
            "**Mask**: {story}",
            (
                Story("“{query}” sees no key, so every score is −∞.", "unseeing"),
                Story("“{key}” is hidden from “{query}”, so its score is −∞.", "hidden"),
                Story("“{query}” gives “{key}” the score {value}, as it is set by hand.", "set"),
                Story("“{query}” sees “{key}”, whose score stays {value}.", of=selects),
                Story("“{query}” sees “{key}”: with what the mask adds, {mask}, its score is {value}."),
            ),
        )
    },
    terms=(
        Term(
            "mask",
            r"\bmask(?:s|ed)?\b",
            "Hides keys from queries: a hidden key has the score −∞, and so the attention weight 0.",
            "For “{query}” and “{key}” it leaves {masked}.",
            "Hide",
        ),
        Term(
            "causal", r"\bcausal\b", "A mask that hides later {unit}s, which a model that writes on cannot have read."
        ),
        Term("padding", r"\bpadding\b", "Fillers that make texts equally long; a mask hides them."),
        Term("window", r"\bwindow\b", "A mask that leaves near {unit}s alone to be seen."),
        Term(
            "global layer",
            r"\bglobal(?: layers?)?\b",
            "A layer without the window that others have, as in Gemma and gpt-oss: it sees {unit}s however far away.",
        ),
    ),
)
