"""Continuing: the next letter of a text whose model says what may come next, how it is chosen, and the one before."""

from __future__ import annotations

from collections import Counter

import numpy as np

from attnviz.analysis.kv_cache_cost import multiplications
from attnviz.contract.models import Kept, Names, Next, WrittenText
from attnviz.core.errors import ArrayError
from attnviz.core.trace import Trace
from attnviz.models.continuation import OFFERED, Drawing, chosen, weighed
from attnviz.models.writing import names
from attnviz.scene.document.residual import writers_data
from attnviz.scene.reading import reading_model, room, words_in
from attnviz.scene.resolution import SceneWithPass
from attnviz.scene.scene import choice_of


def can_continue(resolved: SceneWithPass) -> bool:
    """Whether a scene is of a model that says what may come next."""
    return resolved.trace is not None and resolved.trace.origin.is_open and reading_model(resolved.scene) is not None


def next_token(resolved: SceneWithPass) -> str | None:
    """The token that comes next; None where the text ends, or has no place left."""
    task, scene = reading_model(resolved.scene).task, resolved.scene
    place = _chosen(resolved)
    ends = place == len(task.answers) - 1
    return None if ends or len(words_in(scene)) >= room(scene) else task.answers[place]


def next_data(resolved: SceneWithPass, *, with_names: bool = False) -> Next | None:
    """The next token as data; None where nothing comes next."""
    if not can_continue(resolved):
        return None
    scene, answers = resolved.scene, reading_model(resolved.scene).task.answers
    place, row = _chosen(resolved), _row(resolved)
    return Next(
        drawing=scene.drawing,
        offered={name: list(values) for name, values in OFFERED.items() if name != "seed"},
        weights=(weighed(row, scene.drawing) if scene.drawing else np.eye(len(answers))[place]).tolist(),
        answer=place,
        ends=place == len(answers) - 1,
        is_full=len(words_in(scene)) >= room(scene),
        can_shorten=bool(words_in(scene)),
        kept=_kept(resolved.trace),
        parts=writers_data(resolved.trace),
        names=_names(resolved) if with_names else None,
    )


def _kept(trace: Trace) -> list[Kept]:
    """Of each token what was there before it came, as a sentence and in short; nothing where a token sees a later one.

    A model reads what follows in the same way: all that it computes for a token stays as it is.
    """
    visible = trace["mask"].value
    if np.triu(visible, 1).any():
        return []
    return [_kept_before(place, trace) for place in range(trace.lengths["query"])]


def _kept_before(n: int, trace: Trace) -> Kept:
    if not n:
        return Kept(text="", saved="")
    whole, new = (f"{multiplications(trace, n + 1, is_cached=kept):,}" for kept in (False, True))
    before = "token" if n == 1 else f"{n} tokens"
    return Kept(
        text=f"Only the row of “{trace.labels['token'][n]}” is new: keys and values of the {before} before it are "
        f"kept (keys[li].append(k) in microgpt). With a KV cache: {new} multiplications instead of {whole}, counted "
        "in all matrix products, those with hidden keys included.",
        saved=f"{new} multiplications instead of {whole}",
    )


N_NAMES = 100
"""The number of texts that are written at once."""


def _names(resolved: SceneWithPass) -> Names:
    """Texts that the model writes from nothing, with what its task knows of each; as drawn, or at temperature 1."""
    scene = resolved.scene
    choice, at = choice_of(scene), (scene.model_seed, scene.checkpoint)
    model, drawing = choice.at(*at), scene.drawing or Drawing()
    try:
        texts = names(model, drawing, N_NAMES)
    except ArrayError as error:
        return Names(listed=[], text=str(error), about=model.task.about)
    listed = [WrittenText(text=text, is_=choice.met(text, *at)) for text in texts]
    counts = Counter(each.is_ for each in listed)
    tally = ", ".join(f"{n} {met}" for met, n in counts.most_common() if met)
    of_seeds = f"{N_NAMES} texts from seeds {drawing.seed} to {drawing.seed + N_NAMES - 1}"
    return Names(listed=listed, text=f"{of_seeds}{tally and ': '}{tally}.", about=model.task.about)


def _row(resolved: SceneWithPass) -> np.ndarray:
    return resolved.trace["probabilities"].value[-1]


def _chosen(resolved: SceneWithPass) -> int:
    return chosen(_row(resolved), resolved.scene.drawing, len(words_in(resolved.scene)))
