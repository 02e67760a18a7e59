"""Call: the arrays of one call of an attention module, from hooks and a dispatch log."""

import inspect
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from attnviz.checks.read.names import stage_named
from attnviz.checks.read.user_arrays import NEAR_ONE
from attnviz.checks.recording.dispatch import DispatchLog, array_of
from attnviz.checks.recording.modules import (
    COMPRESSED,
    KEYS_AND_VALUES,
    POSITION_BIAS,
    QUERIES,
    AttentionModule,
    latents_of,
)
from attnviz.checks.recording.operands import is_norm_of, stages_of_operands
from attnviz.core.errors import OwnArraysError

COMPUTED = ("q", "k", "v", "attention", "concat", "output")  # the recorded arrays that the module computes
_APPENDED = (
    "It appends keys that no token has (add_bias_kv, add_zero_attn), which attnviz has no operation for. Queries, keys "
    "and values are recorded as they enter the products."
)
_CONTEXTS = ("key", "encoder_hidden_states", "key_value_states", "context", "memory")


class Call:
    """The arrays recorded by hooks during one call of a module; `arrays` has names that `compare` reads."""

    is_readable = True  # until a hook raises
    has_appended_keys = False  # whether the module appends keys that no token has

    def __init__(self, attention: AttentionModule, sentence: int) -> None:
        self._attention, self._sentence = attention, sentence
        self._batch_axis = 0 if attention.is_batch_first else 1
        self._n_sentences = 1
        self._width: int | None = None  # the length of a query
        self._has_mask = False  # whether the module was called with a mask
        self._is_added_to = False  # whether the module adds its input to its output
        self._compressed = np.zeros(0)
        self._inputs: dict[str, Any] = {}
        self._fused = np.zeros(0)  # rows of queries, keys and values together
        self._normed: dict[str, np.ndarray] = {}  # queries and keys after a norm of each head
        self.dispatch_log: DispatchLog | None = None  # filled by a dispatch mode, if one is active
        self.arrays: dict[str, np.ndarray] = {}

    def begin(self, args: tuple, kwargs: Mapping[str, Any]) -> None:
        """Record the inputs of the module; OwnArraysError if none are tokens, or there is no such sentence."""
        signature = inspect.signature(self._attention.module.forward)
        arguments = signature.bind_partial(*args, **kwargs).arguments
        for name, parameter in signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments |= arguments.pop(name, {})
        tensors = {name: value for name, value in arguments.items() if _is_tensor(value)}
        masks = {name: each for name, each in tensors.items() if "mask" in name or _is_bias(name)}
        x = next((value for name, value in tensors.items() if name not in masks), None)
        if x is None:
            names = ", ".join(arguments) or "nothing"
            raise OwnArraysError(f"It was called with no tensor of tokens, but with {names}.")
        if x.ndim == 3:
            self._n_sentences = len(x.unbind()) if _is_nested(x) else x.shape[self._batch_axis]
        if not 0 <= self._sentence < self._n_sentences:
            raise OwnArraysError(f"sentence must be one of {self._n_sentences}, from 0 on; got {self._sentence}.")
        self.arrays["x"] = self._of_sentence(x)
        context = next((tensors[name] for name in _CONTEXTS if name in tensors), None)
        if context is not None and context is not x:
            self._record_context(context, x)
        for name, value in masks.items():
            is_known = "mask" in name or stage_named(name) == "mask"
            if is_known or value.shape[-2] in (1, len(self.arrays["x"])):  # otherwise it may be a table of distances
                self.arrays[name if is_known else f"{name}.attn_bias"] = self._mask(name, array_of(value))
        if self._attention.divides_alibi and "alibi" in self.arrays and self._attention.n_heads:
            self.arrays["alibi"] = self.arrays["alibi"] * (self.arrays["x"].shape[-1] / self._attention.n_heads) ** -0.5
        tables = _rotations(arguments, self._attention.is_sin_first)
        self.arrays |= {name: array for name, each in tables if (array := self._table(name, each)).size}
        for name, number in self._attention.numbers.items():
            self.arrays[name] = np.array(number)
        self._has_mask = bool(masks)
        self._is_added_to = "residual" in tensors

    def _table(self, name: str, table: Any) -> np.ndarray:
        """The sentence's rows of a table of cosines or sines, or its positions; empty if it has another form."""
        n_axes = 1 if name == "position_ids" else 2
        array = array_of(table)
        if array.ndim > n_axes and array.shape[-2] == 1 and len(array) == len(self.arrays["x"]):
            array = array.squeeze(-2)
        while array.ndim > n_axes and len(array) in (1, self._n_sentences):
            array = array[self._sentence if len(array) > 1 else 0]
        return array if array.ndim == n_axes else np.zeros(0)

    def _record_context(self, key_input: Any, query_input: Any) -> None:
        """Record the input of keys, unless it equals that of queries."""
        context = self._of_sentence(key_input)
        is_other = key_input is not query_input and not np.array_equal(context, self._of_sentence(query_input))
        if is_other and context.ndim == 2:
            self.arrays["context"] = context

    def project(self, kind: str, args: tuple, result: Any) -> None:
        """Record the result of one of the `submodules`."""
        if kind == "w_o":
            self.arrays["concat"] = self._of_sentence(args[0])
            if self._attention.has_output_outside or self._is_added_to or self._attention.is_from_huggingface:
                self.arrays["output"] = self._of_sentence(result)
        elif kind == POSITION_BIAS:  # (queries, keys, heads), the same for all sentences
            self.arrays[kind] = np.moveaxis(array_of(result), -1, 0)
        elif kind == COMPRESSED:
            self._compressed = self._of_sentence(result)
        elif kind in (QUERIES, KEYS_AND_VALUES):
            self._record_latents(kind, result)
        elif kind == "w_qkv":
            self._fused = self._of_sentence(result)
        else:
            letter = kind[2]  # of w_q, and of g_q_norm
            is_normed = kind in self._attention.stages.values() and kind[0] == "g"  # in the way that attnviz norms
            (self._normed if is_normed else self.arrays)[letter] = self._by_heads(
                letter, self._of_sentence(result), args[0]
            )
            if kind in ("w_q", "w_k"):
                self._inputs[kind] = args[0]
            if {"w_q", "w_k"} <= self._inputs.keys() and "context" not in self.arrays:
                self._record_context(self._inputs["w_k"], self._inputs["w_q"])

    def _record_latents(self, kind: str, result: Any) -> None:
        n_heads, d_n, d_r, rank = latents_of(self._attention.module)
        array = array_of(result)
        whole = array.reshape(len(array), -1, array.shape[-1])  # latents have an axis of one head
        rows = self._of_sentence(result) if kind == QUERIES else whole[self._sentence]
        rows = rows[-len(self.arrays["x"]) :]  # without cached rows
        heads = rows.reshape(len(rows), n_heads, -1).swapaxes(0, 1)
        if kind == QUERIES:  # rotated dimensions first
            self.arrays["q"] = np.concatenate([heads[..., d_n:], heads[..., :d_n]], axis=-1)
        else:
            rotated = np.broadcast_to(self._compressed[:, rank:], (*heads.shape[:-1], d_r))
            self.arrays["k"] = np.concatenate([rotated, heads[..., :d_n]], axis=-1)
            self.arrays["v"] = heads[..., d_n:]

    def end(self, output: Any) -> None:
        """Record the output of the module, and its attention if it returns it."""
        first, *rest = output if isinstance(output, (tuple, list)) else (output,)
        is_projected = "output" in self.arrays or self._attention.has_output_outside or self._is_added_to
        if not is_projected and _is_tensor(first):
            self.arrays["output"] = self._of_sentence(first)
        returned = [array_of(value) for value in rest if _is_tensor(value) and value.ndim in (3, 4)]
        n_queries = len(self.arrays["x"])  # weights need not sum to 1, by a mistake, but are positive
        weights = [array for array in returned if array.shape[-2] == n_queries and (array >= 0).all() and array.any()]
        for array in sorted(weights, key=_adds_up, reverse=True)[:1]:
            self.arrays["attention"] = array[self._sentence] if len(array) == self._n_sentences else array
        with suppress(Exception):  # the arrays that hooks recorded stay, whatever fails here
            self._record_operands()

    @property
    def note(self) -> str:
        """Sentences on why weights are missing, if operations were logged, and on what replaces parameters."""
        unheard = self.dispatch_log.note if self.dispatch_log and "attention" not in self.arrays else ""
        return f"{unheard} {_APPENDED if self.has_appended_keys else ''}".strip()

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of what a pass from the recorded arrays computes, by their names."""
        stages, all_of = self._attention.stages, self._attention.parameters
        return {name: each for name, each in all_of.items() if not self.has_appended_keys or stages[name][-2:] == "_o"}

    def log_dispatch(self) -> DispatchLog:
        parameters = self._attention.parameters.values()
        self.dispatch_log = DispatchLog(self._sentence, self._n_sentences, len(self.arrays.get("x", ())), parameters)
        return self.dispatch_log

    def _record_operands(self) -> None:
        """Record the logged operands where hooks recorded nothing."""
        if self.dispatch_log is None:
            return
        operands = self.dispatch_log.joined()
        if latents := latents_of(self._attention.module):
            operands |= {name: self._rotated_first(operands[name], *latents) for name in "qk" if name in operands}
        n_new = len(self.arrays.get("context", self.arrays["x"]))
        n_keys: int | None = self.arrays["k"].shape[-2] if "k" in self.arrays else n_new
        if self._attention.is_from_torch and "k" in operands and operands["k"].shape[-2] != n_keys:
            n_keys = None  # add_zero_attn and bias_k append keys
            if operands["k"].shape[-2] > n_new + 1 or operands["k"][:, -1].any() or "attention" not in self.arrays:
                self._begin_with_keys(operands, operands["k"].shape[-2] - n_new)
        if "attn_mask" in self.dispatch_log.numbers and (self._attention.is_from_huggingface or not self._has_mask):
            self.arrays = {name: each for name, each in self.arrays.items() if stage_named(name) != "mask"}
            self._has_mask = False  # the recorded attn_mask combines them
        for name, number in self.dispatch_log.numbers.items():
            if number.dtype == bool and any("in_proj" in each for each in self._attention.parameters):
                number = np.where(number, 0, -np.inf)  # with such parameter names True would be read as hidden
            is_known = name in self.arrays or (name == "attn_mask" and self._has_mask)
            if not is_known and not (name == "scale" and np.isclose(number, operands["q"].shape[-1] ** -0.5)):
                self.arrays[name] = number
        self.arrays |= stages_of_operands(operands, self.arrays, self._sources(), n_keys)
        self._rename_normed()
        is_made = not {"w_k", "w_qkv"}.isdisjoint(self._attention.stages.values())
        if "past_key" in self.arrays and "k_rotated" in self.arrays and not is_made:
            del self.arrays["k"]  # a pass that begins with keys needs all of them
        if "q" in operands and "q_rotated" not in self.arrays:
            self._drop_unused_positions()
        bias = self.arrays.get(POSITION_BIAS)
        if bias is not None and "masked" in self.arrays:  # MPT's bias has the length of the longest text
            self.arrays[POSITION_BIAS] = bias[..., -self.arrays["masked"].shape[-1] :]

    def _begin_with_keys(self, operands: Mapping[str, np.ndarray], n_appended: int) -> None:
        """Record queries, keys and values as they enter the products, where the module appends keys."""
        self.has_appended_keys = True
        self.arrays.pop("context", None)
        self.arrays |= {letter: operands[letter] for letter in "qkv"}
        for name, mask in self.arrays.items():
            if stage_named(name) == "mask":
                self.arrays[name] = np.pad(mask, [*[(0, 0)] * (mask.ndim - 1), (0, n_appended)])

    def _rename_normed(self) -> None:
        """Rename rotated queries and keys to normed ones where only a norm, perhaps a wrong one, changed them."""
        gains = {self._attention.stages[name]: each for name, each in self._attention.parameters.items()}
        for letter in "qk":
            rows, source = (self.arrays.get(name, np.zeros(0)) for name in (f"{letter}_rotated", letter))
            normed, gain = self._normed.get(letter, np.zeros(1)), gains.get(f"g_{letter}_norm")
            is_theirs = rows.shape == normed.shape and np.allclose(
                rows, normed, rtol=0, atol=1e-6 * np.abs(normed).max()
            )
            if is_theirs or (rows.size and gain is not None and is_norm_of(rows, source, array_of(gain))):
                self.arrays[f"{letter}_normed"] = self.arrays.pop(f"{letter}_rotated")

    def _drop_unused_positions(self) -> None:
        """Drop tables that other layers use (SmolLM3) or none (Falcon), and the positions of embeddings.

        In other modules, unused cosines and sines may be a mistake.
        """
        unused = {"position_ids"} | ({"cos", "sin"} if self._attention.is_from_huggingface else set())
        if self._attention.is_from_huggingface or "cos" not in self.arrays:
            self.arrays = {name: array for name, array in self.arrays.items() if name not in unused}

    def _sources(self) -> dict[str, np.ndarray]:
        """The rows of queries and keys before rotation; none of PyTorch's own module, which has none."""
        if self._attention.is_from_torch:
            return {}
        fused = {letter: self._fused for letter in "qk" if self._fused.size}
        return fused | {letter: self.arrays[letter] for letter in "qk" if letter in self.arrays}

    def _rotated_first(self, rows: np.ndarray, n_heads: int, d_n: int, d_r: int, rank: int) -> np.ndarray:
        """Queries or keys of latent attention with the rotated dimensions first, neighbours paired."""
        rotated = rows[..., d_n:]
        pairs_halves = getattr(getattr(self._attention.module, "config", None), "rope_interleave", False)
        if pairs_halves:
            rotated = np.stack([rotated[..., : d_r // 2], rotated[..., d_r // 2 :]], axis=-1).reshape(rotated.shape)
        return np.concatenate([rotated, rows[..., :d_n]], axis=-1)

    def _of_sentence(self, tensor: Any) -> np.ndarray:
        if _is_nested(tensor):
            return array_of(tensor.unbind()[self._sentence])
        array = array_of(tensor)
        return array.take(self._sentence, axis=self._batch_axis) if array.ndim == 3 else array

    def _by_heads(self, letter: str, array: np.ndarray, made_of: Any) -> np.ndarray:
        """Queries, keys or values split into heads, if their number is known."""
        n_heads = self._attention.n_heads
        if array.ndim == 4:  # split before, by tokens or by heads
            array = array[self._sentence]
            n = len(self.arrays["x"] if letter == "q" else self.arrays.get("context", self.arrays["x"]))
            strides = made_of.stride() if hasattr(made_of, "stride") else made_of.strides
            is_by_tokens = len(array) == n and (array.shape[1] != n or strides[1] > strides[2])
            return array.swapaxes(0, 1) if is_by_tokens else array
        if array.ndim != 2 or not n_heads or (letter != "q" and self._width is None):
            return array
        if letter == "q" and array.shape[1] % n_heads == 0:
            self._width = array.shape[1] // n_heads
        if not self._width or array.shape[1] % self._width:
            return array
        return array.reshape(len(array), -1, self._width).swapaxes(0, 1)

    def _mask(self, name: str, mask: np.ndarray) -> np.ndarray:
        """The mask or bias of the sentence; one that queries share is repeated for each."""
        n, n_queries = self._n_sentences, len(self.arrays["x"])
        is_by_sentence = len(mask) == n and ("padding" in name or n != n_queries)
        is_by_heads = mask.ndim == 3 and self._is_by_heads(name, len(mask))
        if mask.ndim >= 3 and len(mask) in (1, n) and not is_by_heads:
            mask = mask[min(self._sentence, len(mask) - 1)]
        elif mask.ndim == 3 and len(mask) % n == 0 and not is_by_heads:  # sentence by sentence, each head of it
            mask = mask.reshape(n, -1, *mask.shape[1:])[self._sentence]
        elif mask.ndim == 2 and is_by_sentence:
            mask = mask[self._sentence]
        if mask.ndim < 3 or mask.shape[-2] != 1:
            return mask
        return np.broadcast_to(mask, (*mask.shape[:-2], n_queries, mask.shape[-1])).copy()

    def _is_by_heads(self, name: str, length: int) -> bool:
        """Whether the first of a mask's three axes is that of heads, as in a bias that all sentences share."""
        if self._attention.is_from_torch:
            return False
        n, n_heads = self._n_sentences, self._attention.n_heads
        others = {1, *((n, n * n_heads) if n_heads else ())}
        return length == n_heads or (_is_bias(name) and length not in others)


_BIASES = re.compile(r"(?:.*_)?(?:bias|rel(?:ative)?_pos(?:itions?)?)")


def _is_bias(name: str) -> bool:
    """Whether an argument of this name is added to scores."""
    return name == "alibi" or bool(_BIASES.fullmatch(name))


def _rotations(arguments: Mapping[str, Any], is_sin_first: bool) -> Iterator[tuple[str, Any]]:
    """The arguments that rotate queries and keys: cosines, sines and positions."""
    tables = {name: arguments[name] for name in ("cos", "sin", "position_ids") if name in arguments}
    for name in ("position_embeddings", "rotary_pos_emb", "freqs_cis"):
        table: Any = arguments.get(name)
        if isinstance(table, tuple | list) and len(table) == 2:
            tables |= dict(zip(("sin", "cos") if is_sin_first else ("cos", "sin"), table, strict=True))
        elif hasattr(table, "is_complex") and table.is_complex():
            tables |= {"cos": table.real, "sin": table.imag}
        elif name == "rotary_pos_emb" and hasattr(table, "cos"):
            tables |= {"cos": table.cos(), "sin": table.sin()}
    return ((name, each) for name, each in tables.items() if hasattr(each, "detach"))


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and getattr(value, "ndim", 0) >= 2


def _is_nested(tensor: Any) -> bool:
    """Whether a tensor is nested, as `nn.TransformerEncoder` uses to cut off padding."""
    return bool(getattr(tensor, "is_nested", False))


def _adds_up(array: np.ndarray) -> bool:
    """Whether rows sum to 1, as in attention but hardly in a bias."""
    return bool((np.abs(array.sum(axis=-1) - 1) < NEAR_ONE).all())
