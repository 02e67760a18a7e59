"""Recorded: `attnviz.record`, the arrays of each attention layer in one call of a PyTorch model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from attnviz.checks.read.files import Arrays, as_array, numeric
from attnviz.checks.read.layouts import stages
from attnviz.checks.read.names import NUMBERED, stage_named
from attnviz.checks.recording.call import Call
from attnviz.checks.recording.dispatch import array_of, can_log_dispatch, dispatch_mode
from attnviz.checks.recording.modules import (
    LOOKED_FOR,
    AttentionModule,
    attention_modules,
    check_module,
    parameter_names,
)
from attnviz.checks.report.compare_arrays import compare
from attnviz.checks.report.verdict import ARRAYS_TO_SEND
from attnviz.core.arguments import check_int, check_type, quoted
from attnviz.core.errors import OwnArraysError, guarded
from attnviz.core.parameters import ALL_AXES
from attnviz.core.trace import Trace

_MAX_REASON = 300  # characters of a library's error message


class Recorded(Sequence):
    """A model's attention, layer by layer: what `record` fills, or `Recorded.of` makes of a library's own recording.

    `recorded[3]` holds the fourth layer's arrays by names that `compare` reads. `len(recorded)` is the number of
    layers.

    Attributes
    ----------
    paths : tuple of str
        The names of the attention modules in the model.
    skipped : dict of str to str
        Why modules that look like attention, or calls of them, can't be read.
    notes : dict of str to str
        What is recorded in place of a module's parameters, and why attention weights were not heard.
    tokens, context_tokens : tuple of str, optional
        The words of the sentence, and of the one that cross-attention looks at.

    Examples
    --------
    >>> import torch
    >>> from attnviz import record
    >>> layer, x = torch.nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 3, 8)
    >>> with record(layer, tokens=["the", "cat", "sat"]) as recorded:
    ...     output = layer(x, x, x)
    >>> len(recorded), recorded.lengths[0]
    (1, (3, 3))
    >>> recorded[0]["attention"].shape
    (2, 3, 3)
    """

    def __init__(
        self,
        paths: Sequence[str],
        skipped: dict[str, str],
        tokens: Sequence[str] | None,
        context_tokens: Sequence[str] | None = None,
    ) -> None:
        for name, words in (("tokens", tokens), ("context_tokens", context_tokens)):
            if words is not None:
                _check_sequence(name, words)
        self.paths, self.skipped = tuple(paths), skipped
        self.notes: dict[str, str] = {}
        self.tokens = None if tokens is None else tuple(tokens)
        self.context_tokens = None if context_tokens is None else tuple(context_tokens)
        self._layers: dict[int, Arrays] = {}

    @classmethod
    @guarded("read what was recorded", "the names and shapes of its arrays")
    def of(cls, arrays: Mapping[str, Any], *, tokens: Sequence[str] | None = None, sentence: int = 0) -> Recorded:
        """The layers that a library recorded itself.

        Parameters
        ----------
        arrays : mapping of names to arrays, or to a tuple with one for each layer
            Such as the cache of TransformerLens' `run_with_cache`, with or without the model's `state_dict`, or what a
            model of Hugging Face's returns with `output_attentions=True`.
        tokens : sequence of str, optional
            The words of the sentence, for `show`.
        sentence : int
            Which one of a batch.

        Returns
        -------
        Recorded
            All layers in the arrays.

        Raises
        ------
        OwnArraysError
            If there is no layer in them, or the batch has no such sentence.

        Examples
        --------
        >>> import numpy as np
        >>> from attnviz import Recorded
        >>> causal = np.tri(3) / [[1], [2], [3]]  # each word looks at itself and earlier ones alike
        >>> attentions = [np.stack([[causal, np.eye(3)]])] * 2  # of 2 layers: 1 sentence, 2 heads, 3 queries, 3 keys
        >>> recorded = Recorded.of({"attentions": tuple(attentions)}, tokens=["the", "cat", "sat"])
        >>> recorded[1]["attentions"].shape
        (2, 3, 3)
        """
        if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
            raise OwnArraysError(
                "Recorded.of takes arrays by their names, as model.run_with_cache returns them, or a model's output "
                f"with output_attentions=True; got {quoted(arrays)}."
            )
        check_int("sentence", sentence, 0, "its place in the batch", OwnArraysError)
        paths, layers = _by_layer(arrays, sentence)
        recorded = cls(paths, {}, tokens)
        for number, layer in enumerate(layers):
            recorded.keep(number, layer)
        return recorded

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, layer: int) -> Arrays:  # type: ignore[override]
        """The arrays of a layer, counted from 0 as in the model.

        Raises
        ------
        OwnArraysError
            If it wasn't called, or there is no such layer.
        """
        if isinstance(layer, bool) or not isinstance(layer, int | np.integer):
            raise OwnArraysError(
                f"A recording has layers, 0 to {len(self) - 1}; got {quoted(layer)}. Arrays have names in a layer, as "
                "in recorded[0]['attention']."
            )
        if not -len(self) <= layer < len(self):
            raise IndexError(f"{len(self)} modules of attention were found, 0 to {len(self) - 1}; got {layer}.")
        layer = range(len(self))[layer]
        if layer in self._layers:
            return self._layers[layer] | self._words_of(layer)
        path = self.paths[layer]
        if path in self.skipped:
            raise OwnArraysError(f"{path or 'The model'} could not be read. {self.skipped[path]}")
        raise OwnArraysError(f"{path or 'The model'} was not called inside the with block. Call it there.")

    def __repr__(self) -> str:
        lines = [f"Recorded: {len(self._layers)} of {len(self)} modules of attention"]
        for layer, path in enumerate(self.paths):
            names = ", ".join(name for name in self._layers.get(layer, {}) if "." not in name)
            nothing = "not read" if path in self.skipped else "not called"
            lines.append(f"{layer}: {path or '(the model itself)'}: {names or nothing}")
        lines += [f"{path or '(the model itself)'}: {note}" for path, note in self.notes.items()]
        lines += [f"not read: {path or '(the model itself)'}: {why}" for path, why in self.skipped.items()]
        return "\n".join(lines)

    @property
    def lengths(self) -> dict[int, tuple[int, int] | None]:
        """The number of queries and keys of each called layer; None if its arrays don't tell."""
        return {layer: _lengths(arrays) for layer, arrays in self._layers.items()}

    def _words_of(self, layer: int) -> Arrays:
        """The words of a layer's queries, and of its keys if those have others; none if it isn't certain which."""
        lengths = self.lengths[layer]
        if lengths is None:
            words = {"tokens": self.tokens}
        elif "context" in self._layers[layer]:
            n_queries, n_keys = lengths
            numbers = tuple(map(str, range(1, n_keys + 1)))
            words = {"tokens": self._last_words(n_queries)}
            words["context_tokens"] = self.context_tokens if _fits(self.context_tokens, n_keys) else numbers
        else:
            words = self._words_of_self_attention(self.paths[layer], *lengths)
        return {name: np.array(each) for name, each in words.items() if each}

    def _words_of_self_attention(self, path: str, n_queries: int, n_keys: int) -> dict[str, tuple[str, ...] | None]:
        """The words of queries; of an encoder, those of the context. Beside a cache, those of all keys as well."""
        tokens, context_tokens = self.tokens, self.context_tokens
        contexts = {each[1] for layer, each in self.lengths.items() if each and "context" in self._layers[layer]}
        is_context = _fits(context_tokens, n_queries) or (context_tokens is None and n_queries in contexts)
        is_own = _fits(tokens, n_queries)
        if is_context and is_own:  # both sentences have this length: the module's name may tell which
            is_encoder, is_decoder = "encoder" in path, "decoder" in path
            is_context, is_own = is_encoder and not is_decoder, is_decoder and not is_encoder
        if not is_context and not is_own and n_queries < n_keys and _fits(tokens, n_keys):
            return {"tokens": self._last_words(n_queries), "context_tokens": tokens}
        return {"tokens": context_tokens if is_context else tokens if is_own else None}

    def _last_words(self, n_queries: int) -> tuple[str, ...] | None:
        """The words of the queries, the last ones beside a cache; None if the sentence has another length."""
        words = self.tokens
        is_cached = words is not None and (n_queries, len(words)) in self.lengths.values()
        return words[-n_queries:] if words is not None and (is_cached or len(words) == n_queries) else None

    def keep(self, layer: int, arrays: Arrays) -> None:
        self._layers.setdefault(layer, arrays)

    def add_note(self, layer: int, note: str) -> None:
        """Add a sentence on the first call of a layer."""
        if note and layer not in self._layers:
            path = self.paths[layer]
            self.notes[path] = f"{self.notes.get(path, '')} {note}".strip()

    def skip(self, layer: int, error: Exception) -> None:
        why = str(error) if isinstance(error, OwnArraysError) else f"{type(error).__name__}: {error}"
        self.skipped.setdefault(self.paths[layer], " ".join(why.split())[:_MAX_REASON])

    def finish(self, sentence: int) -> None:
        """Warn of layers that could not be read; OwnArraysError if none could and `sentence` isn't the first."""
        unread = [path for path in self.paths if path in self.skipped]
        if unread:
            path, why = unread[0], self.skipped[unread[0]]
            if sentence and not self._layers:
                raise OwnArraysError(why)
            some = f"{len(unread)} of {len(self)} modules of attention could not be read."
            warnings.warn(f"{some} {path or 'The model'}: {why}", stacklevel=4)


def _fits(words: tuple[str, ...] | None, n: int) -> bool:
    return words is not None and len(words) == n


def _lengths(arrays: Mapping[str, np.ndarray]) -> tuple[int, int] | None:
    """The number of queries and keys of a layer, from its inputs and attention."""
    by_stage = {stage_named(name): array for name, array in arrays.items()}
    attention = np.shape(by_stage.get("attention", ()))[-2:]
    if "x" not in by_stage:
        return (attention[0], attention[1]) if len(attention) == 2 else None
    n_queries = len(by_stage["x"])
    return n_queries, len(by_stage["context"]) if "context" in by_stage else [n_queries, *attention][-1]


def _by_layer(arrays: Mapping[str, Any], sentence: int) -> tuple[list[str], list[Arrays]]:
    """The paths of layers, and the arrays of one sentence in each, but for those of no layer or of no known stage."""
    paths: dict[int, str] = {}
    layers: dict[int, Arrays] = {}
    for layer, path, name, value in _numbered(arrays):
        if stage := stage_named(name):
            paths.setdefault(layer, path)
            layers.setdefault(layer, {})[name] = _of_sentence(name, stage, value, sentence)
    if not layers:
        names = ", ".join([*arrays][:8])
        raise OwnArraysError(
            "Arrays of layers have names with a number, such as blocks.3.attn.hook_q, or are a tuple with one for "
            f"each layer, such as attentions; got {names or 'none'}."
        )
    for layer_arrays in layers.values():
        _shorten_masks(layer_arrays)
    return [paths[layer] for layer in sorted(paths)], [layers[layer] for layer in sorted(layers)]


def _numbered(arrays: Mapping[str, Any]) -> Iterator[tuple[int, str, str, Any]]:
    for name, value in arrays.items():
        if isinstance(value, (tuple, list)):
            if name != "hidden_states":  # Hugging Face's: the stream between layers, which no attention reads as it is
                yield from ((layer, f"{name}.{layer}", name, each) for layer, each in enumerate(value))
        elif match := NUMBERED.fullmatch(name):
            yield int(match["layer"]), match["path"], name, value


def _of_sentence(name: str, stage: str, value: Any, sentence: int) -> np.ndarray:
    if value is None:
        raise OwnArraysError(
            f"{name} holds None in place of arrays: models of Hugging Face return attention weights with "
            "attn_implementation='eager' alone."
        )
    array, axes = numeric(name, as_array(name, value)), stages().get(stage)
    if axes is None or stage in ALL_AXES or array.ndim != len(axes) + 1:
        return array
    if not 0 <= sentence < len(array):
        raise OwnArraysError(f"sentence must be one of the {len(array)} in {name}, from 0 on; got {sentence}.")
    return array[sentence]


def _shorten_masks(arrays: Arrays) -> None:
    """Cut the masks of a layer that are for the longest text to the length of this one."""
    of_stages = {name: stage_named(name) for name in arrays}
    n = next((len(arrays[name]) for name, stage in of_stages.items() if stage in ("x", "output")), None)
    for name, stage in of_stages.items():
        mask = arrays[name]
        if n is not None and stage == "mask" and mask.ndim > 1 and mask.shape[-1] == mask.shape[-2] > n:
            arrays[name] = mask[..., :n, :n]


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

    It finds `nn.MultiheadAttention`, the attention of Hugging Face's models and your own modules, by the names of
    their parameters, and uses forward hooks, which are removed after the block, and a dispatch mode inside of calls,
    which changes nothing that they compute. attnviz never imports torch.

    Parameters
    ----------
    model : torch.nn.Module
        A model, or one module of attention.
    tokens : sequence of str, optional
        The words of the sentence, for `show` and `compare`; of an encoder and a decoder, those of the decoder. With a
        cache, the words of all keys or those of the queries alone.
    context_tokens : sequence of str, optional
        The words that cross-attention looks at: its keys', and those of the encoder's own layers. Without them, and in
        a layer of self-attention that is as long as both sentences, or as neither, words are numbered.
    sentence : int
        Which one of a batch is recorded.
    names : mapping of str to str, optional
        The stages of parameters with unknown names: `{"proj_a.weight": "w_q"}`.

    Yields
    ------
    Recorded
        Filled when the model is called: x, q, k, v, concat, output and masks; q_rotated and k_rotated as they enter the
        dot products, if they differ; past_key and past_value of a cache; masked (what enters the softmax) and
        attention, also if the module doesn't return it; and the module's parameters under their own names. `print`
        says which modules were found, which not and why. If a call can't be read, the model runs on, and a warning
        follows after the block.

    Raises
    ------
    OwnArraysError
        If the model has no module of attention that can be read; after the block, if no call had such a sentence.

    Notes
    -----
    What T5 and BLOOM add to scores by position is among the masks. `scale` is what a model of Hugging Face's declares
    that it multiplies scores by. Of a module that norms all heads of its queries at once (OLMo 2), or makes keys and
    values from a latent (DeepSeek), queries, keys and values are recorded in place of what makes them.

    Attention weights can't be recorded if one kernel computes them (`scaled_dot_product_attention`, the fast path of
    `nn.MultiheadAttention`, flex and flash attention, `torch.compile`). Load a model of Hugging Face's with
    `attn_implementation="eager"` to have them. The `notes` of the recording mention both cases.

    Examples
    --------
    >>> import torch
    >>> from attnviz import compare, record
    >>> layers = [torch.nn.TransformerEncoderLayer(8, 2, dropout=0.0, batch_first=True) for _ in range(3)]
    >>> model = torch.nn.Sequential(*layers)
    >>> with record(model, tokens=["the", "cat", "sat"]) as recorded:
    ...     output = model(torch.ones(1, 3, 8))
    >>> recorded.paths
    ('0.self_attn', '1.self_attn', '2.self_attn')
    >>> print(compare(None, recorded[2]))
    Q, K, V and output agree to float32 rounding.
    Your W_Q, W_K, W_V and W_O are (out, in): read transposed.
    """
    check_module("record takes a PyTorch module", model)
    check_int("sentence", sentence, 0, "its place in the batch", OwnArraysError)
    with guarded("find the attention in this model", "the names of its modules and parameters"):
        modules, skipped = attention_modules(model, names)
    if not modules:
        why = [f"{path or 'the model'}: {reason}" for path, reason in list(skipped.items())[:4]]
        has = "; ".join(why) or f"It has {parameter_names(model)}"
        raise OwnArraysError(
            f"No module of attention was found in {type(model).__name__}. {has}. {LOOKED_FOR}. Say which stage "
            'parameters are, as in names={"proj_a.weight": "w_q"}, by their full names in the model.'
        )
    recorded = Recorded([each.path for each in modules], skipped, tokens, context_tokens)
    recorded.notes = {each.path: each.note for each in modules if each.note}
    modes: list[Any] = []  # the active dispatch modes, the innermost last
    of_modules = (_hooks(module, place, recorded, sentence, names or {}, modes) for place, module in enumerate(modules))
    handles = [*chain.from_iterable(of_modules)]
    try:
        yield recorded
    finally:
        while modes:  # after a KeyboardInterrupt, which hooks miss
            modes.pop().__exit__(None, None, None)
        for handle in handles:
            handle.remove()
    recorded.finish(sentence)


def _hooks(
    attention: AttentionModule,
    place: int,
    recorded: Recorded,
    sentence: int,
    names: Mapping[str, str],
    modes: list[Any],
) -> Iterator[Any]:
    """Register the hooks that record a module, which need to be removed afterwards."""
    calls: list[Call] = []  # the innermost last
    logs_dispatch = can_log_dispatch(attention.module)

    def record_part(part: str, *args: Any, is_last: bool = False) -> None:
        """Record a part of the innermost call. An error must not reach the model's forward."""
        if not calls:
            return
        call = calls.pop() if is_last else calls[-1]
        try:
            if call.is_readable:
                getattr(call, part)(*args)
                if is_last:
                    recorded.add_note(place, call.note)
                    stages = {name: attention.stages[name] for name in names if name in attention.stages}
                    parameters = {stages.get(name, name): array_of(each) for name, each in call.parameters.items()}
                    recorded.keep(place, call.arrays | parameters)
        except Exception as error:
            call.is_readable = False
            recorded.skip(place, error)

    def begin(module: Any, args: tuple, kwargs: dict) -> None:
        calls.append(Call(attention, sentence))
        record_part("begin", args, kwargs)
        if logs_dispatch:
            modes.append(dispatch_mode(calls[-1].log_dispatch()))
            modes[-1].__enter__()

    def stop(module: Any, args: tuple, output: Any) -> None:
        if modes:
            modes.pop().__exit__(None, None, None)

    def project(kind: str, module: Any, args: tuple, output: Any) -> None:
        record_part("project", kind, args, output, is_last=attention.has_output_outside and kind == "w_o")

    def end(module: Any, args: tuple, output: Any) -> None:
        record_part("end", output, is_last=not attention.has_output_outside)

    yield attention.module.register_forward_pre_hook(begin, with_kwargs=True)
    for kind, module in attention.submodules.items():
        yield module.register_forward_hook(partial(project, kind))
    if logs_dispatch:
        yield attention.module.register_forward_hook(stop, always_call=True)
    yield attention.module.register_forward_hook(end)


@guarded("read this layer", ARRAYS_TO_SEND)
def pass_of(recorded: Recorded, layer: int) -> Trace:
    """Attnviz's pass of a recorded layer, labelled with its words; OwnArraysError if the module computed another."""
    check_type("layer", layer, int | np.integer, "the number of a layer, counted from 0", OwnArraysError)
    if not -len(recorded) <= layer < len(recorded):
        raise OwnArraysError(f"The recording has the layers 0 to {len(recorded) - 1}; got the layer {layer}.")
    comparison = compare(None, recorded[layer])
    if comparison.trace is None or comparison.first is not None:
        raise OwnArraysError(
            f"The viewer shows attnviz's pass, which layer {layer} of the recorded ones isn't. {comparison}"
        )
    check_words(recorded)
    return comparison.trace


def check_words(recorded: Recorded) -> None:
    """OwnArraysError if words are given that are as many as the tokens of no layer."""
    lengths = sorted({n for sizes in recorded.lengths.values() if sizes for n in sizes})
    for name, words in (("tokens", recorded.tokens), ("context_tokens", recorded.context_tokens)):
        if words is not None and lengths and len(words) not in lengths:
            numbers = " or ".join(map(str, lengths))
            raise OwnArraysError(f"{name} must be the {numbers} words of the recorded sentence; got {len(words)}.")


def _check_sequence(name: str, words: Any) -> None:
    """Raise OwnArraysError unless `words` is a list, a tuple or an array of str."""
    if isinstance(words, str):
        raise OwnArraysError(f"{name} must be a sequence of words; got text. Write {name}.split().")
    if not isinstance(words, Sequence | np.ndarray):
        raise OwnArraysError(f"{name} must be a sequence of words; got {quoted(words)}. Give a list of str.")
    if others := [type(each).__name__ for each in words if not isinstance(each, str)]:
        came = f"{type(words).__name__} with {others[0]}"
        raise OwnArraysError(f"{name} must be a sequence of words; got {came} in it. Give a list of str.")
