"""Figures: what a lesson may name of a pass and its model besides cells, `count.parameters`, `loss.pairs`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from attnviz.analysis.kv_cache_cost import multiplications
from attnviz.analysis.pairing import pairing
from attnviz.core.operations.operation import Source
from attnviz.core.trace import Trace
from attnviz.lessons.mistaken import mistaken_figure
from attnviz.lessons.reference import LessonError, Of, Passes
from attnviz.models.recorded import Recorded
from attnviz.models.training import accuracy, passed, stages_for
from attnviz.models.yardsticks import recorded
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import choice_of

Figure = float | int | str

MUTED = {"without_attention": "attention", "without_mlp": "the MLP"}


def figure(name: str, passes: Passes) -> Figure:
    """A figure by its name; after "A." that of the pass beside the one shown.

    Raises
    ------
    LessonError
        If there is none of that name, or the passes have none.
    """
    of: Of = "A" if name.startswith("A.") else "B"
    name = name.removeprefix("A.").removeprefix("B.")
    if name == "count.differing":
        return differing(passes)
    kind, _, what = name.partition(".")
    resolved = passes.scene(of)
    if name in _FIGURES:
        return _FIGURES[name](resolved)
    if kind == "mistake":
        return mistaken_figure(what, resolved.trace)
    if kind == "looks":
        return _looks(what, resolved)
    if name.startswith("accuracy."):
        return _accuracy(what, resolved)
    if kind in ("loss", "perplexity"):
        loss = _loss(what, resolved)
        return math.exp(loss) if kind == "perplexity" else loss
    raise LessonError(f"A figure is one of {', '.join(_FIGURES)}, loss. and perplexity.; got {name!r}.")


def differing(passes: Passes, stage: str = "attention") -> int:
    """How many numbers of a stage are others than those of the same words in the pass beside it."""
    return pairing(passes.trace("A"), passes.trace()).stages[stage].n_other


def mask_of(trace: Trace) -> np.ndarray:
    """Which pairs of a query and a key are visible, in the first head and layer: finite after the mask."""
    return np.isfinite(trace.layers[0].trace["masked"].value[0])


def answer_of(trace: Trace) -> str:
    """The most probable answer at the last token."""
    return trace.labels["answer"][int(trace["probabilities"].value[-1].argmax())]


def n_parameters(resolved: SceneWithPass) -> int:
    """How many numbers a model was given, the whole table of its words; without one, the matrices of the pass."""
    choice = choice_of(resolved.scene)
    if choice:
        arrays = choice.at(resolved.scene.model_seed, resolved.scene.checkpoint).arrays
        return sum(array.size for array in arrays.values())
    given = (stage for stage in resolved.original if isinstance(stage.operation, Source))
    return sum(stage.size for stage in given if stage.name.startswith("w_"))


def training(resolved: SceneWithPass) -> Recorded:
    """The trainings of the scene's model.

    Raises
    ------
    LessonError
        If it has none.
    """
    choice = choice_of(resolved.scene)
    if not isinstance(choice, Recorded):
        raise LessonError("A loss is that of a model that was trained; this pass has none.")
    return choice


def _loss(what: str, resolved: SceneWithPass) -> float:
    """The loss on held-out texts at the end of training: of the whole model, or without a part of it."""
    choice, seed = training(resolved), resolved.scene.model_seed
    if what == "untrained":
        return choice.curve(seed)[0][1]
    if what == "guessing":
        return math.log(len(choice.task.answers))
    if what == "pairs":
        return choice.task.yardsticks["pairs of letters"]
    if what == "here":
        return next(loss for step, loss, _ in choice.curve(seed) if step == _steps(resolved))
    ended = recorded()[seed]
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
    """Where a head of a language model looks on average over held-out texts: `head_2.before`."""
    head, _, where = what.removeprefix("head_").partition(".")
    heads = recorded()[resolved.scene.model_seed]["heads"]
    if where not in LOOKS or head not in map(str, range(1, len(heads) + 1)):
        raise LessonError(f"A head looks at one of {', '.join(LOOKS)}, as in looks.head_2.before; got {what!r}.")
    return heads[int(head) - 1]["looks"][LOOKS[where]]


def _accuracy(what: str, resolved: SceneWithPass) -> float:
    """The part of held-out texts that a model answers right, or the model without what a layer writes."""
    choice, seed = training(resolved), resolved.scene.model_seed
    model, batch = choice.at(seed), choice.task.held_out()
    if what != "model":
        silenced = f"w_o_{what.removeprefix('without_layer_')}"
        if silenced not in model.arrays:
            raise LessonError(f"An accuracy is that of model or without_layer_1; got {what!r}.")
        without = model.arrays | {silenced: np.zeros_like(model.arrays[silenced])}
        model = model.with_arrays(without, model.kind)
    return accuracy(passed(stages_for(model, batch), model.arrays, batch)["probabilities"], batch)


def _steps(resolved: SceneWithPass) -> int:
    """After how many steps of training the model is that is shown."""
    place = resolved.scene.checkpoint
    return training(resolved).checkpoints(resolved.scene.model_seed)[-1 if place is None else place]


def _cost(resolved: SceneWithPass, *, is_cached: bool) -> int:
    return multiplications(resolved.trace, len(resolved.trace.labels["query"]), is_cached=is_cached)


def _n_answered(resolved: SceneWithPass) -> int:
    return len(resolved.trace.labels["answer"])


_FIGURES: dict[str, Callable[[SceneWithPass], Figure]] = {
    "answer": lambda resolved: answer_of(resolved.trace),
    "answer.before": lambda resolved: answer_of(resolved.original),
    "count.answer_among_words": lambda resolved: resolved.trace.labels["query"].count(answer_of(resolved.trace)),
    "count.answers": _n_answered,
    "count.d_k": lambda resolved: resolved.trace.layers[0].trace["k"].shape[-1],
    "count.d_model": lambda resolved: resolved.trace["x"].shape[-1],
    "count.heads": lambda resolved: resolved.trace.layers[0].trace["k"].shape[0],
    "count.held_out": lambda resolved: training(resolved).task.n_held_out,
    "count.hidden": lambda resolved: int((~mask_of(resolved.trace)).sum()),
    "count.layers": lambda resolved: resolved.trace.n_layers,
    "count.multiplications": lambda resolved: _cost(resolved, is_cached=False),
    "count.multiplications_cached": lambda resolved: _cost(resolved, is_cached=True),
    "count.names": lambda resolved: len(training(resolved).task.names) - training(resolved).task.n_held_out,
    "count.neurons": lambda resolved: resolved.trace.layers[0].trace["w_hidden"].shape[-1],
    "count.pairs": lambda resolved: int(mask_of(resolved.trace).size),
    "count.parameters": n_parameters,
    "count.padding": lambda resolved: resolved.scene.options.mask_size,
    "count.texts": lambda resolved: len(training(resolved).task.held_out().tokens),
    "count.steps_done": lambda resolved: _steps(resolved),
    "count.steps": lambda resolved: training(resolved).checkpoints(resolved.scene.model_seed)[-1],
    "count.visible": lambda resolved: int(mask_of(resolved.trace).sum()),
    "count.words": lambda resolved: len(resolved.trace.labels["query"]),
    "e": lambda resolved: math.e,
}
