"""Continuing a text: the next token, what wrote to its logits, what a KV cache keeps, and sample texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from attnviz.analysis import stream
from attnviz.analysis.stream import multiplications
from attnviz.contract.models import ByKey, Kept, Names, Next, ResidualPart, Writers, WrittenText
from attnviz.core.errors import ArrayError
from attnviz.core.trace import Layer, Trace
from attnviz.explain.payload import chunks
from attnviz.explain.steps import entry
from attnviz.models.continuation import SAMPLING_CHOICES, Sampling, filtered_probabilities, sample_texts, sample_token
from attnviz.scene.reading import capacity, french_capacity, reading_model, text_read, translates, words_in
from attnviz.scene.scene import model_choice
from attnviz.scene.with_pass import SceneWithPass, written_words


def writers_data(trace: Trace) -> Writers | None:
    """What each writer to the residual stream adds to each logit; for heads also per key.

    None where a layer replaces its input, or a number on the way is set by hand, so that nothing adds up.
    """
    if not stream.has_residual_stream(trace):
        return None
    token = trace["logits"].shape[0] - 1
    # a head whose numbers are set by hand isn't the sum of its keys' parts
    is_set = any(trace[layer.names["heads"]].overridden for layer in stream.writing(trace))
    writers = stream.parts(trace, token)
    return Writers(
        writers=[_writer(trace, part, token) for part in writers],
        values=chunks(np.array([part.values for part in writers])),
        by_key=None if is_set else _largest(by_key(trace)),
    )


def _writer(trace: Trace, part: stream.Part, token: int) -> ResidualPart:
    name, index = {
        "entered": (f"“{trace.labels['token'][token]}” as it entered", (token, 0)),
        "head": (f"head {part.place + 1}", (part.place, token, 0)),
        "neuron": (f"neuron {part.place + 1}", (token, part.place)),
        "bias": (entry(part.stage).title, (0,)),
    }[part.kind]
    if trace.n_layers > 1 and part.kind != "entered":
        layer = trace.layer_of(part.stage)
        name += f" of {' '.join(f'“{title}”' for title in layer.trace.origin.layer_titles) or f'layer {layer.number}'}"
    return ResidualPart(label=name, cell=str(trace[part.stage].cell(index)), is_head=part.kind == "head")


def by_key(trace: Trace) -> list[np.ndarray]:
    """For each head that writes: the part of each last logit that it adds from each key, (keys, answers)."""
    return [rows for layer in stream.writing(trace) for rows in _of_heads(layer)]


def _largest(added: list[np.ndarray]) -> ByKey:
    """For each head and logit: the key that adds most in absolute value, and how much."""
    places = [np.abs(rows).argmax(axis=0) for rows in added]
    values = [rows[keys, range(len(keys))] for rows, keys in zip(added, places, strict=True)]
    return ByKey(places=np.array(places).tolist(), values=chunks(np.array(values)))


def _of_heads(layer: Layer) -> Iterator[np.ndarray]:
    trace = layer.trace
    weights, values, w_o = trace["attention"].value[:, -1], trace["v"].value, trace["w_o"].value
    for row, value, head_rows in zip(weights, values, np.split(w_o, len(values)), strict=True):
        yield row[:, None] * (value @ head_rows @ trace["w_u"].value)


def can_continue(resolved: SceneWithPass) -> bool:
    """Whether the scene's model predicts next tokens."""
    if resolved.trace is None or reading_model(resolved.scene) is None:
        return False
    return resolved.trace.origin.is_open or translates(resolved.scene)


def _room(resolved: SceneWithPass) -> tuple[int, int]:
    """How many tokens were written so far, and how many may be."""
    scene = resolved.scene
    if translates(scene):
        return len(written_words(resolved.trace)), french_capacity(scene)
    return len(words_in(scene)), capacity(scene)


def next_token(resolved: SceneWithPass) -> str | None:
    """The next token; None at the end of the text or of the model's context."""
    answers, index = reading_model(resolved.scene).task.answers, _next_answer(resolved)
    written, most = _room(resolved)
    return None if written >= most or index == len(answers) - 1 else answers[index]


def _next_answer(resolved: SceneWithPass) -> int:
    row = resolved.trace["probabilities"].value[-1]
    return sample_token(row, resolved.scene.drawing, _room(resolved)[0])


_OFFERED = {name: list(values) for name, values in SAMPLING_CHOICES.items() if name != "seed"}


def next_data(resolved: SceneWithPass, *, with_names: bool = False) -> Next | None:
    """The next token as data; None where nothing comes next."""
    if not can_continue(resolved):
        return None
    written, most = _room(resolved)
    scene, row, index = resolved.scene, resolved.trace["probabilities"].value[-1], _next_answer(resolved)
    is_translation = translates(scene)  # each of its words is the most probable one
    weights = filtered_probabilities(row, scene.drawing) if scene.drawing else np.eye(len(row))[index]
    return Next(
        drawing=scene.drawing,
        offered={} if is_translation else _OFFERED,
        weights=weights.tolist(),
        answer=index,
        ends=index == len(row) - 1,
        is_full=written >= most,
        can_shorten=written > 0,
        kept=[] if is_translation else _kept(resolved.trace),
        parts=writers_data(resolved.trace),
        names=_names(resolved) if with_names and not is_translation else None,
        right=_right(resolved, index) if is_translation else [],
    )


def _right(resolved: SceneWithPass, answer: int) -> list[str]:
    """The right translation nearest to what is written, with the word that comes next."""
    model = reading_model(resolved.scene)
    words = [*written_words(resolved.trace), model.task.answers[answer]]
    return list(model.right(text_read(resolved.scene), words))


def _kept(trace: Trace) -> list[Kept]:
    """For each token what a KV cache saves, in a sentence and in short; empty if a token sees a later one. If none
    does, all that the model computes for a token stays as it is when others follow.
    """
    if np.triu(trace["mask"].value, 1).any():
        return []
    return [Kept(text="", saved=""), *(_saved(n, trace) for n in range(1, trace.lengths["query"]))]


def _saved(n: int, trace: Trace) -> Kept:
    whole, new = (f"{multiplications(trace, n + 1, is_cached=is_cached):,}" for is_cached in (False, True))
    row = f"Only the row for “{trace.labels['token'][n]}” is new."
    return Kept(
        text=f"{row} Reusing the cached keys and values takes {new} multiplications instead of {whole}.",
        saved=f"{new} multiplications instead of {whole}",
    )


N_NAMES = 100  # the number of sample texts


def _names(resolved: SceneWithPass) -> Names:
    """Sample texts, each with what the task knows of it, drawn with the scene's settings or at temperature 1."""
    scene = resolved.scene
    choice, which = model_choice(scene), (scene.model_seed, scene.checkpoint)
    model, drawing = choice.at(*which), scene.drawing or Sampling()
    try:
        texts = sample_texts(model, drawing, N_NAMES)
    except ArrayError as error:
        return Names(listed=[], text=str(error), about=model.task.about)
    listed = [WrittenText(text=text, is_=choice.met(text, *which)) for text in texts]
    counts = Counter(each.is_ for each in listed)
    tally = ", ".join(f"{n} {met}" for met, n in counts.most_common() if met)
    of_seeds = f"{N_NAMES} texts from seeds {drawing.seed} to {drawing.seed + N_NAMES - 1}"
    return Names(listed=listed, text=f"{of_seeds}{tally and ': '}{tally}.", about=model.task.about)
