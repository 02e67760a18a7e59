"""Recorded: the arrays of each layer's attention in one call of a PyTorch model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from attnviz.checks.names import named
from attnviz.checks.recording.besides import notes
from attnviz.checks.recording.bylayer import by_layer
from attnviz.checks.recording.call import Call, array_of
from attnviz.checks.recording.modules import AttentionModule, attention_modules
from attnviz.core.errors import OwnArraysError, guarded

_MAX_WHY = 300
"""Characters of an error of somebody's library."""


class Recorded(Sequence):
    """A model's attention, layer by layer; `recorded[3]` is the fourth's arrays, by names that `compare` reads.

    Attributes
    ----------
    paths : tuple of str
        The names of the modules of attention in the model.
    skipped : dict of str to str
        Those that seem to be attention and can't be read, or were called in a way that can't, with why.
    notes : dict of str to str
        Of which modules something else is recorded than their parameters say, and what.
    tokens, context_tokens : tuple of str, optional
        The words of the sentence, and of the one that cross-attention looks at.
    """

    def __init__(
        self,
        paths: Sequence[str],
        skipped: dict[str, str],
        tokens: Sequence[str] | None,
        context_tokens: Sequence[str] | None = None,
    ) -> None:
        self.paths = tuple(paths)
        self.skipped = skipped
        self.notes: dict[str, str] = {}
        self.tokens = _words("tokens", tokens)
        self.context_tokens = _words("context_tokens", context_tokens)
        self._layers: dict[int, dict[str, np.ndarray]] = {}

    @classmethod
    @guarded("read what was recorded", "the names and shapes of its arrays")
    def of(cls, arrays: Mapping[str, Any], *, tokens: Sequence[str] | None = None, sentence: int = 0) -> Recorded:
        """The layers of what a library recorded itself.

        Parameters
        ----------
        arrays : mapping of names to arrays, or to a tuple with one for each layer
            Such as the cache of TransformerLens' `run_with_cache`, with or without the model's `state_dict`, or what a
            model of Hugging Face's returns with `output_attentions=True`.
        tokens : sequence of str, optional
            The words of the sentence, for `show`.
        sentence : int
            Which one of a batch.

        Raises
        ------
        OwnArraysError
            If there is no layer in them, or the batch has no such sentence.

        Examples
        --------
        >>> logits, cache = model.run_with_cache(prompt)  # doctest: +SKIP
        >>> print(compare(None, Recorded.of({**cache, **model.state_dict()})[3]))  # doctest: +SKIP
        """
        layers = by_layer(arrays, sentence)
        recorded = cls([path for path, _ in layers.values()], {}, tokens)
        for place, (_, kept) in enumerate(layers.values()):
            recorded.keep(place, kept)
        return recorded

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, layer: int) -> dict[str, np.ndarray]:
        """The arrays of a layer, counted from 0 as in the model.

        Raises
        ------
        OwnArraysError
            If it wasn't called, or there is no such layer.
        """
        place = range(len(self.paths))[layer] if -len(self) <= layer < len(self) else None
        if place is None:
            raise IndexError(f"{len(self)} modules of attention were found, 0 to {len(self) - 1}; got {layer}.")
        if place not in self._layers:
            path = self.paths[place]
            if path in self.skipped:
                raise OwnArraysError(f"{path or 'The model'} could not be read. {self.skipped[path]}")
            raise OwnArraysError(f"{path or 'The model'} was not called inside the with block. Call it there.")
        return self._layers[place] | self._words_of(place)

    def __repr__(self) -> str:
        lines = [f"Recorded: {len(self._layers)} of {len(self)} modules of attention"]
        for place, path in enumerate(self.paths):
            arrays = self._layers.get(place, {})
            kept = [name for name in arrays if "." not in name]
            nothing = "not read" if path in self.skipped else "not called"
            lines.append(f"{place}: {path or '(the model itself)'}: {', '.join(kept) or nothing}")
        lines += [f"{path or '(the model itself)'}: {said}" for path, said in self.notes.items()]
        lines += [f"not read: {path or '(the model itself)'}: {why}" for path, why in self.skipped.items()]
        return "\n".join(lines)

    @property
    def lengths(self) -> dict[int, tuple[int, int] | None]:
        """How many queries and keys each called layer has; None where its arrays don't say it."""
        return {place: _lengths(arrays) for place, arrays in self._layers.items()}

    def _words_of(self, place: int) -> dict[str, np.ndarray]:
        """The words of a layer's queries, and of its keys where these are a context's, by names that `compare` reads.

        Where it isn't certain which words a layer has, it has none.
        """
        lengths = self.lengths
        if lengths[place] is None:
            return {} if self.tokens is None else {"tokens": np.array(self.tokens)}
        n_queries, n_keys = lengths[place]
        if "context" in self._layers[place]:
            numbers = tuple(str(number + 1) for number in range(n_keys))
            sides = {
                "tokens": self.tokens if _fits(self.tokens, n_queries) else None,
                "context_tokens": self.context_tokens if _fits(self.context_tokens, n_keys) else numbers,
            }
        else:
            sides = {"tokens": self._words_of_own(n_queries)}
        return {name: np.array(words) for name, words in sides.items() if words}

    def _words_of_own(self, n: int) -> tuple[str, ...] | None:
        """The words of a layer of self-attention of so many tokens: of an encoder they are the context's."""
        of_contexts = {sizes[1] for place, sizes in self.lengths.items() if sizes and "context" in self._layers[place]}
        is_context = _fits(self.context_tokens, n) or (self.context_tokens is None and n in of_contexts)
        if is_context == _fits(self.tokens, n):
            return None
        return self.context_tokens if is_context else self.tokens

    def keep(self, place: int, arrays: dict[str, np.ndarray]) -> None:
        """Keep the arrays of a layer; of several calls the first is kept, which has the whole prompt."""
        self._layers.setdefault(place, arrays)

    def skip(self, place: int, error: Exception) -> None:
        """Note why a call of a layer can't be read."""
        why = str(error) if isinstance(error, OwnArraysError) else f"{type(error).__name__}: {error}"
        self.skipped.setdefault(self.paths[place], " ".join(why.split())[:_MAX_WHY])

    def finish(self, sentence: int) -> None:
        """Warn of the layers that could not be read, once the model has done its work.

        Raises
        ------
        OwnArraysError
            If none could, and another sentence than the first was asked for.
        """
        unread = {path: self.skipped[path] for path in self.paths if path in self.skipped}
        if not unread:
            return
        path, why = next(iter(unread.items()))
        if sentence and not self._layers:
            raise OwnArraysError(why)
        warnings.warn(
            f"{len(unread)} of {len(self)} modules of attention could not be read. {path or 'The model'}: {why}",
            stacklevel=4,
        )


def _words(name: str, words: Sequence[str] | None) -> tuple[str, ...] | None:
    if isinstance(words, str):
        raise OwnArraysError(f"{name} must be a sequence of words; got text. Write {name}.split().")
    return None if words is None else tuple(words)


def _fits(words: tuple[str, ...] | None, n: int) -> bool:
    return words is not None and len(words) == n


def _lengths(arrays: Mapping[str, np.ndarray]) -> tuple[int, int] | None:
    """How many queries and keys a layer has, by what enters it, and by its attention."""
    by_stage = {known.stage: array for name, array in arrays.items() if (known := named(name))}
    attention = np.shape(by_stage.get("attention", ()))[-2:]
    if "x" not in by_stage:
        return attention if len(attention) == 2 else None
    n_queries = len(by_stage["x"])
    return n_queries, len(by_stage["context"]) if "context" in by_stage else [n_queries, *attention][-1]


@contextmanager
def record(
    model: Any,
    *,
    tokens: Sequence[str] | None = None,
    context_tokens: Sequence[str] | None = None,
    sentence: int = 0,
    names: Mapping[str, str] | None = None,
) -> Iterator[Recorded]:
    """Record the attention of each layer of a PyTorch model while it is called.

    It finds `nn.MultiheadAttention`, the attention of Hugging Face's models and modules of one's own by the names of
    their parameters, and listens by forward hooks, which are gone after the block. attnviz never imports torch.

    Parameters
    ----------
    model : torch.nn.Module
        A model, or one module of attention.
    tokens : sequence of str, optional
        The words of the sentence, for `show` and `compare`; of an encoder and a decoder, those of the decoder.
    context_tokens : sequence of str, optional
        The words that cross-attention looks at: its keys', and those of the encoder's own layers. Without them, and in
        a layer of self-attention that is as long as both sentences, or as neither, words are numbered.
    sentence : int
        Which one of a batch is recorded.
    names : mapping of str to str, optional
        For parameters whose names don't say it, which stage each is: {"proj_a.weight": "w_q"}.

    Yields
    ------
    Recorded
        Filled when the model is called: x, q, k, v, concat, output, masks and what else each module lets one hear,
        and its parameters under their own names. What T5 and BLOOM add to scores by position is among the masks, and
        `scale` is what a model of Hugging Face's declares that it multiplies scores by. Of a module that norms all
        heads of its queries at once (OLMo 2), or makes keys and values of a latent (DeepSeek), queries, keys and values
        are recorded in the place of what makes them, and `notes` says so. `print` says which modules were found, which
        not and why; where a call can't be read, the model goes on, and a warning says so after the block. A module
        that doesn't return its attention keeps it from being heard: Hugging Face's do with
        `attn_implementation="eager"`, `nn.MultiheadAttention` with `need_weights=True`.

    Raises
    ------
    OwnArraysError
        If the model has no module of attention that can be read; after the block, if no call had such a sentence.

    Examples
    --------
    >>> with record(model) as recorded:  # doctest: +SKIP
    ...     model(x)
    >>> print(compare(None, recorded[3]))  # doctest: +SKIP
    """
    if not hasattr(model, "named_modules"):
        raise OwnArraysError(f"record takes a PyTorch module; got {type(model).__name__}.")
    with guarded("find the attention in this model", "the names of its modules and parameters"):
        modules, skipped = attention_modules(model, names or {})
    if not modules:
        why = "; ".join(f"{path or 'the model'}: {reason}" for path, reason in list(skipped.items())[:4])
        raise OwnArraysError(f"No module of attention was found in {type(model).__name__}. {why}".strip())
    recorded = Recorded([each.path for each in modules], skipped, tokens, context_tokens)
    recorded.notes = {each.path: said for each in modules if (said := notes(each.besides))}
    handles = [
        handle for place, each in enumerate(modules) for handle in _listening(each, place, recorded, sentence, names)
    ]
    try:
        yield recorded
    finally:
        for handle in handles:
            handle.remove()
    recorded.finish(sentence)


def _listening(
    attention: AttentionModule, place: int, recorded: Recorded, sentence: int, names: Mapping[str, str] | None
) -> Iterator[Any]:
    """The hooks that hear one module of attention."""
    calls: list[Call] = []
    unreadable: list[Call] = []

    def safe(hook: Callable[..., None]) -> Callable[..., None]:
        """A hook that never raises, as it would do so inside the model's own forward."""

        def heard(*args: Any) -> None:
            try:
                hook(*args)
            except Exception as error:
                recorded.skip(place, error)
                unreadable.extend(calls[-1:])

        return heard

    def begin(module: Any, args: tuple, kwargs: dict) -> None:
        calls.append(Call(attention, sentence))
        calls[-1].begin(args, kwargs)

    def project(stage: str, module: Any, args: tuple, output: Any) -> None:
        if calls and calls[-1] not in unreadable:
            calls[-1].project(stage, args[0], output)
        if calls and attention.has_output_outside and stage == "w_o":
            finish()

    def hear(what: str, module: Any, args: tuple, output: Any) -> None:
        if calls and calls[-1] not in unreadable:
            calls[-1].hear(what, output)

    def end(module: Any, args: tuple, kwargs: dict, output: Any) -> None:
        if calls and calls[-1] not in unreadable:
            calls[-1].end(output)
        if calls and not attention.has_output_outside:
            finish()

    def finish() -> None:
        call = calls.pop()
        if call in unreadable:
            return
        parameters = {
            attention.stages[name] if names and name in names else name: array_of(each)
            for name, each in attention.parameters.items()
        }
        recorded.keep(place, call.arrays | parameters)

    yield attention.module.register_forward_pre_hook(safe(begin), with_kwargs=True)
    for stage, module in attention.projections.items():
        yield module.register_forward_hook(safe(partial(project, stage)))
    for what, module in attention.besides.items():
        yield module.register_forward_hook(safe(partial(hear, what)))
    yield attention.module.register_forward_hook(safe(end), with_kwargs=True)
