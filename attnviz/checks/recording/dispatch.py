"""Dispatch: the operands of matrix products, softmaxes and fused attention while a module of PyTorch runs.

A dispatch mode sees them below whatever API is called (`@`, einsum, `scaled_dot_product_attention`, `F.softmax`), also
inside `nn.MultiheadAttention`. A function mode would turn off that module's fast path, which changes what it computes.
"""

import math
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from attnviz.checks.read.files import Arrays
from attnviz.core.arrays import as_numpy

_PRODUCTS = {"bmm": ("self", "mat2"), "mm": ("self", "mat2"), "baddbmm": ("batch1", "batch2")}
_PRODUCTS["baddbmm_"] = _PRODUCTS["baddbmm"]
_SOFTMAXES = ("_softmax", "_safe_softmax")
_SCALINGS: Mapping[str, Callable[[float], float]] = {"mul": float, "div": lambda by: 1 / by}
_COPIES = ("clone", "_to_copy")
# In inference mode these arrive as a whole: decompose them to see the operations inside
_COMPOSITES = ("matmul", "einsum", "softmax", "scaled_dot_product_attention", "_scaled_dot_product_attention_math")
_FUSED = "_scaled_dot_product_"
_KERNELS = ("attention", "attn", "transformer_encoder_layer")
_FAST_PATH = (
    "PyTorch's fast path computes it in one kernel, in which nothing is heard. It isn't taken with gradients or in "
    "training mode."
)
_ALONG_BATCH = (
    "Its softmax ran over the {n} sentences of the batch, not over the {t} tokens, which should be the last but "
    "one axis of queries and keys."
)
_HIDES = -1e3  # lower numbers among attention weights were meant to hide a key


class DispatchLog:
    """The operands of one call, for one sentence of the batch."""

    def __init__(self, sentence: int, n_sentences: int, n_queries: int, parameters: Iterable[Any] = ()) -> None:
        self._sentence, self._n_sentences, self._n_queries = sentence, n_sentences, n_queries
        self._parameters = {_storage(each) for each in parameters}
        self._products: list[tuple[np.ndarray, np.ndarray]] = []  # since the last softmax
        # by storage: a tensor's factor, and the tensor to keep it alive
        self._factors: dict[int, tuple[float, Any]] = {}
        self._leading: tuple[int, ...] = ()  # the axes of the last softmax before queries and keys
        self.heads: list[Arrays] = []  # for each softmax: q, k, v, masked and attention
        self.numbers: Arrays = {}  # scale and attn_mask of fused attention
        self._is_along_batch = False  # whether a softmax ran over sentences, token by token
        self.fused = ""  # the operation that computes attention in one kernel, without weights to record

    def operation(self, name: str, arguments: Mapping[str, Any], result: Any) -> None:
        """Keep what an operation of PyTorch's `aten` reads and returns."""
        if name in _PRODUCTS:
            a, b = (arguments[each] for each in _PRODUCTS[name])
            if _storage(b) not in self._parameters:  # otherwise it is a projection
                self._product(*((a, b) if a.ndim == 3 else (a[None], b[None])))
        elif name in _SOFTMAXES:
            self._softmax(arguments["self"], result)
        elif name in _SCALINGS and isinstance(by := arguments["other"], int | float) and by:
            before = self._factors.get(_storage(arguments["self"]), (1.0,))[0]
            self._factors[_storage(result)] = before * _SCALINGS[name](by), result
        elif name in _COPIES and (known := self._factors.get(_storage(arguments["self"]))):
            self._factors[_storage(result)] = known[0], result
        elif name.startswith(_FUSED):
            self._fused(arguments)
        elif any(each in name for each in _KERNELS):
            self.fused = name.strip("_")

    def _product(self, a: Any, b: Any) -> None:
        (n, rows, inner), columns = a.shape, b.shape[-1]
        if self.heads and "v" not in self.heads[-1]:
            last = self.heads[-1]
            n_queries, n_keys = last["masked"].shape[-2:]
            # a sink's column is dropped after the softmax
            if n * rows == math.prod(self._leading) * n_queries and 0 <= n_keys - inner <= 1:
                weights = self._of_sentence(a, n_queries, inner)
                if not ((weights < 0) & (weights > _HIDES)).any():
                    last["attention"], last["v"] = weights, self._of_sentence(b, inner, columns)
                    return
        factors = [self._factors.get(_storage(each), (1.0,))[0] for each in (a, b)]
        self._products.append((array_of(a) / factors[0], array_of(b) / factors[1]))

    def _softmax(self, scores: Any, result: Any) -> None:
        n_queries, n_keys = scores.shape[-2:]
        leading = self._batched(scores.shape[:-2])
        n_rows = math.prod(leading) * n_queries
        fits = [
            (a, b) for a, b in self._products if a.shape[0] * a.shape[1] == n_rows and 0 <= n_keys - b.shape[-1] <= 1
        ]
        if not leading or not fits:
            return
        n, n_tokens = self._n_sentences, self._n_queries
        self._is_along_batch |= n_tokens != n == n_queries == n_keys > 1 and math.prod(leading) % n_tokens == 0
        self._products, self._factors, self._leading = [], {}, leading
        arrays = {
            "masked": self._of_sentence(scores, n_queries, n_keys),
            "attention": self._of_sentence(result, n_queries, n_keys),
        }
        if len(fits) == 1:  # scores that add several products, as with relative positions, have no one query
            (a, b), *_ = fits
            arrays["q"] = self._of_sentence(a, n_queries, a.shape[-1])
            arrays["k"] = self._of_sentence(b, *b.shape[-2:]).swapaxes(-1, -2)
        self.heads.append(arrays)

    def _fused(self, arguments: Mapping[str, Any]) -> None:
        self.fused = "scaled_dot_product_attention"
        tensors = {letter: arguments[name] for letter, name in (("q", "query"), ("k", "key"), ("v", "value"))}
        operands = {name: array_of(each[self._sentence]) for name, each in tensors.items()}
        n_queries, n_keys = self._n_queries, operands["k"].shape[-2]
        # the queries of a group may have been packed as rows of one head
        self.heads.append(operands | {"q": operands["q"].reshape(-1, n_queries, operands["q"].shape[-1])})
        mask = arguments.get("attn_mask", arguments.get("attn_bias"))
        if mask is not None:
            mask = mask[self._sentence if len(mask) > 1 else 0] if mask.ndim == 4 else mask
            self.numbers["attn_mask"] = np.broadcast_to(array_of(mask), (*mask.shape[:-2], n_queries, n_keys)).copy()
        elif arguments.get("is_causal"):
            self.numbers["attn_mask"] = np.tri(n_queries, n_keys, dtype=bool)
        if arguments.get("scale") is not None:
            self.numbers["scale"] = np.array(float(arguments["scale"]))

    def _batched(self, leading: tuple[int, ...]) -> tuple[int, ...]:
        """The leading axes, with that of sentences on its own; none if it can't be found."""
        n = self._n_sentences
        if len(leading) > 1 and n in leading[:2]:
            return tuple(leading)
        count = math.prod(leading)
        return () if count % n else (n, count // n)

    def _of_sentence(self, tensor: Any, *lengths: int) -> np.ndarray:
        """A copy of one sentence's matrices, one for each head or group; keys that all heads share come once."""
        n, leading = self._n_sentences, self._leading
        count = math.prod(tensor.shape) // math.prod(lengths)
        if count != math.prod(leading):
            leading = (n, count // n)
        axis = 0 if leading[0] == n else 1
        split = tensor.reshape(*leading, *lengths)
        return array_of(split[self._sentence] if axis == 0 else split[:, self._sentence]).reshape(-1, *lengths)

    @property
    def note(self) -> str:
        """A sentence on why attention weights were not recorded; empty if they were."""
        if self._is_along_batch:
            return _ALONG_BATCH.format(n=self._n_sentences, t=self._n_queries)
        if any("attention" in each for each in self.heads):
            return ""
        if "multi_head_attention" in self.fused or "encoder_layer" in self.fused:
            return _FAST_PATH
        why = f"{self.fused} computes them in one kernel" if self.fused else "no softmax ran outside of compiled code"
        return f"its attention weights were not heard, as {why}."

    def joined(self) -> Arrays:
        """The operands of all heads; none if it isn't certain which softmax is that of attention."""
        used = [each for each in self.heads if "v" in each] or self.heads
        if len(used) == 1:
            return used[0]
        shapes = {tuple((name, array.shape) for name, array in each.items()) for each in used}
        if len(shapes) != 1 or len(used[0]["attention" if "attention" in used[0] else "q"]) != 1:
            return {}
        return {name: np.concatenate([each[name] for each in used]) for name in used[0]}


def can_log_dispatch(module: Any) -> bool:
    """Whether operations of a module can be logged: whether it is one of PyTorch's."""
    torch = sys.modules.get("torch")
    dispatch = getattr(getattr(torch, "utils", None), "_python_dispatch", None)
    return hasattr(dispatch, "TorchDispatchMode") and isinstance(module, torch.nn.Module)  # type: ignore[union-attr]


def dispatch_mode(log: DispatchLog) -> Any:
    """A mode of PyTorch that reports each operation to `log`. It never changes a result, nor raises."""
    base: Any = sys.modules["torch"].utils._python_dispatch.TorchDispatchMode

    class DispatchMode(base):
        supports_higher_order_operators = True  # flex_attention raises under modes without it

        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True  # otherwise compiled functions would run uncompiled

        def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = getattr(getattr(func, "overloadpacket", func), "__name__", "")
            if name in _COMPOSITES:
                with self:
                    result = func.decompose(*args, **kwargs)
                if result is not NotImplemented:
                    return result
            result = func(*args, **kwargs)
            with suppress(Exception):
                names = [each.name for each in func._schema.arguments] if hasattr(func, "_schema") else []
                log.operation(name, {**dict(zip(names, args, strict=False)), **kwargs}, result)
            return result

    return DispatchMode()


def array_of(tensor: Any) -> np.ndarray:
    """A copy of a tensor's current numbers."""
    return np.asarray(as_numpy(tensor)).copy()


def _storage(tensor: Any) -> int:
    return tensor.untyped_storage().data_ptr() if hasattr(tensor, "untyped_storage") else id(tensor)
