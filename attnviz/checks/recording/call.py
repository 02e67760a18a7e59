"""Call: the arrays of one sentence in one call of a module of attention."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnviz.checks.arrays import NEAR_ONE
from attnviz.checks.recording.besides import POSITION_BIAS, Latents
from attnviz.checks.recording.modules import AttentionModule
from attnviz.core.arrays import as_numpy
from attnviz.core.errors import OwnArraysError

COMPUTED = ("q", "k", "v", "attention", "concat", "output")
"""The arrays of a call that the module computes; the others are its parameters and what it was called with."""

_ADDED = ("alibi", POSITION_BIAS)
"""The arguments of a module, besides its masks, that are added to scores."""

_CONTEXTS = ("key", "encoder_hidden_states", "key_value_states", "context", "memory")


class Call:
    """The arrays that hooks record during one call of a module.

    Attributes
    ----------
    arrays : dict of names to ndarray
        Of one sentence, under names that `compare` reads: x, context, masks, q, k, v, attention, concat, output.
    """

    def __init__(self, attention: AttentionModule, sentence: int) -> None:
        self._attention, self._sentence = attention, sentence
        self._batch_axis = 0 if attention.is_batch_first else 1
        self._n_sentences = 1
        self._width: int | None = None
        self._is_added_to = False
        self._compressed = np.zeros(0)
        self._entering: dict[str, Any] = {}
        self.arrays: dict[str, np.ndarray] = {}

    def begin(self, args: tuple, kwargs: Mapping[str, Any]) -> None:
        """Hear what the module is called with.

        Raises
        ------
        OwnArraysError
            If there is no such sentence, or nothing that tokens enter by.
        """
        given = _by_name(self._attention.module, args, kwargs)
        tensors = {name: value for name, value in given.items() if _is_tensor(value)}
        x = next((value for name, value in tensors.items() if not _is_mask(name)), None)
        if x is None:
            raise OwnArraysError(f"It was called with no tensor of tokens, but with {', '.join(given) or 'nothing'}.")
        if x.ndim == 3:
            self._n_sentences = len(x.unbind()) if _is_nested(x) else x.shape[self._batch_axis]
        if not 0 <= self._sentence < self._n_sentences:
            raise OwnArraysError(f"sentence must be one of {self._n_sentences}, from 0 on; got {self._sentence}.")
        self.arrays["x"] = self._of_sentence(x)
        context = next((tensors[name] for name in _CONTEXTS if name in tensors), None)
        if context is not None and context is not x:
            self._keep_context(context, x)
        for name, value in tensors.items():
            if _is_mask(name):
                self.arrays[name] = self._for_each_query(self._mask(name, array_of(value)))
        if self._attention.scale is not None:
            self.arrays["scale"] = np.array(self._attention.scale)
        self._is_added_to = "residual" in tensors

    def _keep_context(self, of_keys: Any, of_queries: Any) -> None:
        """Keep what keys are made of, unless queries are made of the same, perhaps computed twice."""
        context = self._of_sentence(of_keys)
        is_other = of_keys is not of_queries and not np.array_equal(context, self._of_sentence(of_queries))
        if is_other and context.ndim == 2:
            self.arrays["context"] = context

    def project(self, stage: str, entering: Any, leaving: Any) -> None:
        """Hear one of the module's projections."""
        if stage == "w_o":
            self.arrays["concat"] = self._of_sentence(entering)
            if self._attention.has_output_outside or self._is_added_to:
                self.arrays["output"] = self._of_sentence(leaving)
        elif stage != "w_qkv":
            self.arrays[stage[-1]] = self._by_heads(stage, self._of_sentence(leaving))
            self._entering[stage] = entering
            if {"w_q", "w_k"} <= self._entering.keys() and "context" not in self.arrays:
                self._keep_context(self._entering["w_k"], self._entering["w_q"])

    def hear(self, what: str, leaving: Any) -> None:
        """Hear what a module of `besides` returns."""
        if what == POSITION_BIAS:  # (queries, keys, heads), the same for all sentences
            self.arrays[what] = np.moveaxis(array_of(leaving), -1, 0)
        elif what == "compressed":
            self._compressed = self._of_sentence(leaving)
        elif what == "latent q":
            self.arrays |= Latents.of(self._attention.module).queries(self._of_sentence(leaving))
        elif what == "latent kv":
            latents = Latents.of(self._attention.module)
            rows = array_of(leaving)
            rows = rows.reshape(len(rows), -1, rows.shape[-1])[self._sentence]  # one head of latents stands between
            self.arrays |= latents.keys_and_values(rows, self._compressed)
        else:
            letter = what[2]  # of g_q_norm, g_k_norm and w_v
            self.arrays[letter] = self._by_heads(f"w_{letter}", self._of_sentence(leaving))

    def end(self, output: Any) -> None:
        """Hear what the module returns: its output, and its attention if it is among the rest."""
        first, *rest = output if isinstance(output, (tuple, list)) else (output,)
        if not self._attention.has_output_outside and not self._is_added_to and _is_tensor(first):
            self.arrays["output"] = self._of_sentence(first)
        returned = [array_of(value) for value in rest if _is_tensor(value) and value.ndim in (3, 4)]
        shares = [array for array in returned if _are_shares(array, len(self.arrays["x"]))]
        for array in sorted(shares, key=_adds_up, reverse=True)[:1]:
            self.arrays["attention"] = array[self._sentence] if len(array) == self._n_sentences else array

    def _of_sentence(self, tensor: Any) -> np.ndarray:
        if _is_nested(tensor):
            return array_of(tensor.unbind()[self._sentence])
        array = array_of(tensor)
        return array.take(self._sentence, axis=self._batch_axis) if array.ndim == 3 else array

    def _by_heads(self, stage: str, array: np.ndarray) -> np.ndarray:
        """Queries, keys or values cut into heads, if the module says how many it has."""
        n_heads = self._attention.n_heads
        if array.ndim != 2 or not n_heads or (stage != "w_q" and self._width is None):
            return array
        if stage == "w_q" and array.shape[1] % n_heads == 0:
            self._width = array.shape[1] // n_heads
        if not self._width or array.shape[1] % self._width:
            return array
        return array.reshape(len(array), -1, self._width).swapaxes(0, 1)

    def _for_each_query(self, mask: np.ndarray) -> np.ndarray:
        """A bias of each head that is the same for all queries, once for each."""
        if mask.ndim < 3 or mask.shape[-2] != 1:
            return mask
        return np.broadcast_to(mask, (*mask.shape[:-2], len(self.arrays["x"]), mask.shape[-1])).copy()

    def _mask(self, name: str, mask: np.ndarray) -> np.ndarray:
        if mask.ndim >= 3 and len(mask) in (1, self._n_sentences):
            return mask[min(self._sentence, len(mask) - 1)]
        if mask.ndim == 3:  # PyTorch's: sentence by sentence, each head of it
            return mask.reshape(self._n_sentences, -1, *mask.shape[1:])[self._sentence]
        if (
            mask.ndim == 2
            and len(mask) == self._n_sentences
            and ("padding" in name or len(mask) != len(self.arrays["x"]))
        ):
            return mask[self._sentence]
        return mask


def array_of(tensor: Any) -> np.ndarray:
    """A copy of its numbers as they are now."""
    return np.asarray(as_numpy(tensor)).copy()


def _by_name(module: Any, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names, those that the signature has first."""
    bound = inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments
    more = bound.pop("kwargs", {})
    return {**bound, **(more if isinstance(more, dict) else {})}


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and getattr(value, "ndim", 0) >= 2


def _is_nested(tensor: Any) -> bool:
    """Whether a tensor has sentences of several lengths: `nn.TransformerEncoder` cuts off their padding so."""
    return bool(getattr(tensor, "is_nested", False))


def _is_mask(name: str) -> bool:
    """Whether an argument is added to scores, or hides them."""
    return "mask" in name or name in _ADDED


def _adds_up(array: np.ndarray) -> bool:
    """Whether rows add up to 1, as those of attention do, and those of a bias hardly."""
    return bool((np.abs(array.sum(axis=-1) - 1) < NEAR_ONE).all())


def _are_shares(array: np.ndarray, n_queries: int) -> bool:
    """Whether an array is attention; its rows may add up to something else, by mistake."""
    return array.shape[-2] == n_queries and bool((array >= 0).all()) and bool(array.any())
