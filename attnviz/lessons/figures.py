"""Figures: numbers of a pass that a lesson's text may name, as counts and losses, and weights under a wrong mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from attnviz.analysis.pairing import pairing
from attnviz.analysis.stream import multiplications
from attnviz.checks.causes.masks import mask_mistakes
from attnviz.checks.passes.nodes import FULLY_MASKED, filled, nodes_of, values_of
from attnviz.core.numerals import short
from attnviz.core.operations.operation import Source
from attnviz.core.trace import Trace
from attnviz.explain.wording import percent
from attnviz.lessons.cell_reference import LessonError, Passes, Side
from attnviz.models.trained import TrainedModel
from attnviz.models.training import accuracy, forward_batch, recorded_parts, stages_for
from attnviz.models.translator import Translator
from attnviz.scene.scene import model_choice
from attnviz.scene.with_pass import SceneWithPass

OF_THE_MASK = {  # the mistakes with the mask, by name in lessons, and the sentence on each
    "multiplied": ("mask multiplied", "The scores are multiplied by the mask: a hidden one becomes 0, not −∞."),
    "after": ("mask after the softmax", "The softmax comes first; hidden weights are set to 0 after it."),
    "further": ("mask off by one", "The mask is off by one: each word also sees the next."),
    "inverted": ("mask inverted", "The mask is inverted: what should be hidden is visible, and nothing else is."),
}

OF_AN_EMPTY_ROW = {  # what other libraries give a query that sees no key
    "uniform": (FULLY_MASKED[1], "Where a word sees nothing, every key gets the same weight.", "JAX"),
    "nan": (FULLY_MASKED[2], "Where a word sees nothing, 0 is divided by 0: NaN, “not a number”.", "PyTorch’s softmax"),
}

MISTAKES = (*OF_THE_MASK, *OF_AN_EMPTY_ROW)
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class MistakenRow:
    """A row of attention weights, right and with a mistake."""

    sentence: str  # what went wrong
    query: int
    hidden: np.ndarray
    right: np.ndarray  # the right weights of the first head
    wrong: np.ndarray
    library: str = ""  # the library with these weights; empty for a mistake

    @property
    def laws(self) -> list[str]:
        """The rules that the wrong weights break, in sentences."""
        if np.isnan(self.wrong).any():
            return ["Every weight must be a number."]
        broken = []
        if not self.hidden.all() and abs(self.wrong.sum() - 1) > _SAME:
            broken.append(f"Every row must add up to 1. This one adds up to {short(float(self.wrong.sum()))}.")
        if (abs(self.wrong[self.hidden]) > _SAME).any():
            got = percent(round(float(self.wrong[self.hidden].sum()), 12))
            broken.append(f"Hidden words must get weight 0. Here they get {got}.")
        if (abs(self.wrong[~self.hidden & (self.right > 0)]) < _SAME).any():
            broken.append("A visible word must get more than 0.")
        return broken


def with_mistake(trace: Trace, mistake: str, word: str) -> MistakenRow:
    """A word's attention weights under a mistake with the mask."""
    if word not in trace.labels["query"]:
        raise LessonError(f"A mistake is shown for a word of the sentence; got {word!r}.")
    query = trace.labels["query"].index(word)
    attention = trace["attention"].value
    hidden, library = np.isneginf(trace["masked"].value[0, query]), ""
    if mistake in OF_AN_EMPTY_ROW:
        nature, sentence, library = OF_AN_EMPTY_ROW[mistake]
        if not hidden.all():
            raise LessonError(f"{mistake} is of a word that sees no key; “{word}” sees some.")
        nodes = {"attention": filled(nodes_of(trace)["attention"], nature, "scaled")}
    else:
        id, sentence = OF_THE_MASK[mistake]
        mistakes = mask_mistakes(trace)
        if id not in mistakes:
            raise LessonError("A mistake with the mask needs one that hides something; this hides nothing.")
        nodes = mistakes[id].nodes
    wrong = values_of({**nodes_of(trace), **nodes}, {"attention"})["attention"]
    return MistakenRow(sentence, query, hidden, attention[0, query], wrong[0, query], library)


def mistaken_figure(name: str, trace: Trace) -> float:
    """A figure of a mistake by name: `after.cat.sum`, or `multiplied.cat.sat` for the weight of “sat”."""
    mistake, _, rest = name.partition(".")
    word, _, what = rest.partition(".")
    if mistake not in MISTAKES:
        raise LessonError(f"A mistake is one of {', '.join(MISTAKES)}; got {mistake!r}.")
    row = with_mistake(trace, mistake, word)
    if what == "sum":
        return math.fsum(row.wrong)
    if what not in trace.labels["key"]:
        raise LessonError(f"A figure of a mistake is of a word, or the sum; got {what!r}.")
    return float(row.wrong[trace.labels["key"].index(what)])


Figure = float | int | str
MUTED = {"without_attention": "attention", "without_mlp": "the MLP"}


def figure(name: str, passes: Passes) -> Figure:
    """A figure by its name; with "A." that of the compared pass."""
    side: Side = "A" if name.startswith("A.") else "B"
    name = name.removeprefix("A.").removeprefix("B.")
    if name == "count.differing":
        return differing(passes)
    kind, _, what = name.partition(".")
    resolved = passes.scene(side)
    if kind == "mistake":
        return mistaken_figure(what, resolved.trace)
    if kind == "looks":
        return _looks(what, resolved)
    if kind == "accuracy":
        return _accuracy(what, resolved)
    if kind == "loss":
        return _loss(what, resolved)
    if kind == "perplexity":
        return math.exp(_loss(what, resolved))
    if kind == "turned":
        return _turned(what, resolved)
    if name in _FIGURES:
        return _FIGURES[name](resolved)
    raise LessonError(f"A figure is one of {', '.join(_FIGURES)}, loss. and perplexity.; got {name!r}.")


def differing(passes: Passes, stage: str = "attention") -> int:
    """How many numbers of a stage differ from those of the same words in the compared pass."""
    return pairing(passes.trace("A"), passes.trace()).stages[stage].n_differing


def mask_of(trace: Trace) -> np.ndarray:
    """The visible pairs of query and key in the first head and layer: finite after the mask."""
    return np.isfinite(trace.layers[0].trace["masked"].value[0])


def answer_of(trace: Trace) -> str:
    """The most probable answer at the last token."""
    return trace.labels["answer"][int(trace["probabilities"].value[-1].argmax())]


def n_parameters(resolved: SceneWithPass) -> int:
    """The number of a model's parameters, with all embeddings; without a model, those of the pass."""
    choice = model_choice(resolved.scene)
    if choice:
        arrays = choice.at(resolved.scene.model_seed, resolved.scene.checkpoint).arrays
        return sum(array.size for array in arrays.values())
    sources = (stage for stage in resolved.original.stages if isinstance(stage.operation, Source))
    return sum(stage.size for stage in sources if stage.name.startswith("w_"))


def training(resolved: SceneWithPass) -> TrainedModel:
    """The trainings of the scene's model."""
    choice = model_choice(resolved.scene)
    if not isinstance(choice, TrainedModel):
        raise LessonError("A loss is that of a model that was trained; this pass has none.")
    return choice


def _loss(what: str, resolved: SceneWithPass) -> float:
    choice, seed = training(resolved), resolved.scene.model_seed
    if what == "untrained":
        return choice.curve(seed)[0][1]
    if what == "guessing":
        return math.log(len(choice.task.answers))
    if what == "pairs":
        return choice.task.yardsticks["pairs of letters"]
    if what == "here":
        return next(loss for step, loss, _ in choice.curve(seed) if step == _steps(resolved))
    ended = recorded_parts()[seed]
    if what == "model":
        return ended["loss"]
    if what in MUTED:
        return ended["muted"][MUTED[what]]
    number = what.removeprefix("without_head_")
    if number != what and number.isdecimal() and 0 < int(number) <= len(ended["heads"]):
        return ended["heads"][int(number) - 1]["loss"]
    raise LessonError(f"A loss is that of model, untrained, guessing, pairs, {', '.join(MUTED)}; got {what!r}.")


LOOKS = {"itself": "the letter itself", "before": "the letter before", "earlier": "letters further back"}


def _looks(what: str, resolved: SceneWithPass) -> float:
    """Where a head of a language model looks on average on held-out texts: `head_2.before`."""
    head, _, where = what.removeprefix("head_").partition(".")
    heads = recorded_parts()[resolved.scene.model_seed]["heads"]
    if where not in LOOKS or head not in map(str, range(1, len(heads) + 1)):
        raise LessonError(f"A head looks at one of {', '.join(LOOKS)}, as in looks.head_2.before; got {what!r}.")
    return heads[int(head) - 1]["looks"][LOOKS[where]]


def _accuracy(what: str, resolved: SceneWithPass) -> float:
    """The accuracy on held-out texts, of the model or without one layer's output."""
    choice, seed = training(resolved), resolved.scene.model_seed
    model, batch = choice.at(seed), choice.task.held_out()
    if what != "model":
        silenced = f"w_o_{what.removeprefix('without_layer_')}"
        if silenced not in model.arrays:
            raise LessonError(f"An accuracy is that of model or without_layer_1; got {what!r}.")
        without = model.arrays | {silenced: np.zeros_like(model.arrays[silenced])}
        model = model.with_arrays(without, model.kind)
    return accuracy(forward_batch(stages_for(model, batch), model.arrays, batch)["probabilities"], batch)


def _steps(resolved: SceneWithPass) -> int:
    checkpoint = resolved.scene.checkpoint
    return training(resolved).checkpoints(resolved.scene.model_seed)[-1 if checkpoint is None else checkpoint]


def _n_multiplications(resolved: SceneWithPass, *, is_cached: bool) -> int:
    return multiplications(resolved.trace, len(resolved.trace.labels["query"]), is_cached=is_cached)


def _turned(what: str, resolved: SceneWithPass) -> float:
    """The part of a translator's pronouns that turn where it can't see the noun they stand for, or the other noun."""
    turned = training(resolved).figures(resolved.scene.model_seed).get("turned", {})
    if what.replace("_", " ") not in turned:
        raise LessonError(f"Pronouns turn where referent or other_noun is hidden; got {what!r}.")
    return turned[what.replace("_", " ")]


def _translation(resolved: SceneWithPass) -> str:
    """What a translator writes, from the beginning, with the numbers set by hand."""
    choice, scene = model_choice(resolved.scene), resolved.scene
    model = choice and choice.at(scene.model_seed, scene.checkpoint)
    if not isinstance(model, Translator):
        raise LessonError("A translation is what a translator writes; this pass has none.")
    return model.task.french_text(model.translate(scene.sentence, scene.changes))


_FIGURES: dict[str, Callable[[SceneWithPass], Figure]] = {
    "answer": lambda resolved: answer_of(resolved.trace),
    "answer.before": lambda resolved: answer_of(resolved.original),
    "count.answer_among_words": lambda resolved: resolved.trace.labels["query"].count(answer_of(resolved.trace)),
    "count.answers": lambda resolved: len(resolved.trace.labels["answer"]),
    "count.d_k": lambda resolved: resolved.trace.layers[0].trace["k"].shape[-1],
    "count.d_model": lambda resolved: resolved.trace["x"].shape[-1],
    "count.heads": lambda resolved: resolved.trace.layers[0].trace["k"].shape[0],
    "count.held_out": lambda resolved: training(resolved).task.n_held_out,
    "count.hidden": lambda resolved: int((~mask_of(resolved.trace)).sum()),
    "count.layers": lambda resolved: resolved.trace.n_layers,
    "count.multiplications": lambda resolved: _n_multiplications(resolved, is_cached=False),
    "count.multiplications_cached": lambda resolved: _n_multiplications(resolved, is_cached=True),
    "count.names": lambda resolved: len(training(resolved).task.names) - training(resolved).task.n_held_out,
    "count.neurons": lambda resolved: resolved.trace.layers[0].trace["w_hidden"].shape[-1],
    "count.pairs": lambda resolved: int(mask_of(resolved.trace).size),
    "count.parameters": n_parameters,
    "count.padding": lambda resolved: resolved.scene.options.mask_size,
    "count.texts": lambda resolved: len(training(resolved).task.held_out().tokens),
    "count.pronouns": lambda resolved: training(resolved).figures(resolved.scene.model_seed)["pronouns"],
    "count.steps_done": _steps,
    "count.steps": lambda resolved: training(resolved).checkpoints(resolved.scene.model_seed)[-1],
    "count.visible": lambda resolved: int(mask_of(resolved.trace).sum()),
    "count.words": lambda resolved: len(resolved.trace.labels["query"]),
    "e": lambda resolved: math.e,
    "translation": _translation,
}
