"""Modules: find attention in a PyTorch module by the names of its parameters, and record one call of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from attnviz.checks.read.arrays import NEAR_ONE
from attnviz.checks.read.names import named
from attnviz.core.arrays import as_numpy
from attnviz.core.errors import OwnArraysError

POSITION_BIAS = "position_bias"
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Latents:
    """The sizes of latent attention (MLA).

    Attributes
    ----------
    d_n, d_r : int
        How many dimensions of a query and a key are not rotated, and how many are.
    rank : int
        The length of a latent.
    """

    n_heads: int
    d_n: int
    d_r: int
    rank: int

    @classmethod
    def of(cls, module: Any) -> Latents | None:
        """The sizes that a module declares under DeepSeek's names; None for any other module."""
        names = ("num_heads", "qk_nope_head_dim", "qk_rope_head_dim", "kv_lora_rank")
        lengths = [getattr(module, name, None) for name in names]
        return cls(*lengths) if all(isinstance(each, int) for each in lengths) else None

    def queries(self, rows: np.ndarray) -> Arrays:
        """The queries (heads, tokens, d_r + d_n), rotated dimensions first."""
        cut = self._by_heads(rows)
        return {"q": np.concatenate([cut[..., self.d_n :], cut[..., : self.d_n]], axis=-1)}

    def keys_and_values(self, rows: np.ndarray, compressed: np.ndarray) -> Arrays:
        """The keys, rotated dimensions first, and the values, from expanded and compressed latents."""
        cut = self._by_heads(rows)
        rotated = np.broadcast_to(compressed[:, self.rank :], (*cut.shape[:-1], self.d_r))
        return {"k": np.concatenate([rotated, cut[..., : self.d_n]], axis=-1), "v": cut[..., self.d_n :]}

    def _by_heads(self, rows: np.ndarray) -> np.ndarray:
        return rows.reshape(len(rows), self.n_heads, -1).swapaxes(0, 1)


def extra_modules(module: Any) -> dict[str, Any]:
    """The submodules to record besides projections, by what they compute."""
    children = dict(module.named_modules())
    extra = {}
    if "relative_attention_bias" in children:
        extra[POSITION_BIAS] = children["relative_attention_bias"]
    if has_latents(module):
        extra |= {
            "latent q": children.get("q_b_proj") or children["q_proj"],
            "compressed": children["kv_a_proj_with_mqa"],
            "latent kv": children["kv_b_proj"],
        }
    return extra


def has_latents(module: Any) -> bool:
    """Whether a module computes keys and values from a latent, judged by DeepSeek's names."""
    children = dict(module.named_modules())
    return {"kv_a_proj_with_mqa", "kv_b_proj", "o_proj"} <= children.keys() and Latents.of(module) is not None


def notes(extra_modules: Container[str]) -> str:
    """A sentence on what is recorded in place of the parameters; empty if nothing."""
    if "latent kv" in extra_modules:
        return (
            "its keys and values come from a latent. Queries, keys and values are recorded as they are before RoPE, "
            "the dimensions that it turns first."
        )
    if "g_q_norm" in extra_modules:
        return (
            "it norms all heads of its queries and keys at once, which attnviz has no operation for. They are recorded "
            "as they are after that."
        )
    return ""


_SEPARATE = {"w_q", "w_k", "w_v"}
_NORMS = ("g_q_norm", "g_k_norm")
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads", "h")
_OWN_NAMES: Mapping[str, str] = {}

StageOf = Callable[[str], str | None]  # from the name of a parameter to its stage


@dataclass(frozen=True, eq=False)
class AttentionModule:
    """A module that computes attention.

    Attributes
    ----------
    path : str
        Its name in the model; empty for the model itself.
    parameters : mapping of names to tensors
        Those of projections and norms, by full names.
    stages : mapping of names to stages
    owners : mapping of names to modules
        The submodule of each parameter.
    extra_modules : mapping of str to modules
        See the function `extra_modules`.
    """

    path: str
    module: Any
    parameters: Mapping[str, Any]
    stages: Mapping[str, str]
    owners: Mapping[str, Any]
    extra_modules: Mapping[str, Any]

    @property
    def projections(self) -> dict[str, Any]:
        """Those of "w_q", "w_k", "w_v" and "w_o" that are layers of their own."""
        return {
            self.stages[name]: owner
            for name, owner in self.owners.items()
            if owner is not self.module and self.stages[name].startswith("w_")
        }

    @property
    def has_output_outside(self) -> bool:
        """Whether the output matrix is outside of the module, as in BERT."""
        return any(stage == "w_o" and not name.startswith(self.path) for name, stage in self.stages.items())

    @property
    def n_heads(self) -> int | None:
        """The declared number of heads."""
        return declared_heads(self.module)

    @property
    def scale(self) -> float | None:
        """The factor of scores that models of Hugging Face declare; Gemma and T5 have unusual ones."""
        declared = getattr(self.module, "scaling", None)
        is_known = type(self.module).__module__.startswith("transformers.")
        return float(declared) if is_known and isinstance(declared, int | float) else None

    @property
    def is_batch_first(self) -> bool:
        """Whether sentences are on the first axis; by default `nn.MultiheadAttention` has them second."""
        return getattr(self.module, "batch_first", True)


def attention_modules(
    model: Any, names: Mapping[str, str] = _OWN_NAMES
) -> tuple[list[AttentionModule], dict[str, str]]:
    """The attention modules in the model's order, and why others can't be read, by path.

    Parameters
    ----------
    model : torch.nn.Module
    names : mapping of names to stages, optional
        The stages of parameters with unknown names.
    """
    stage_of = partial(_stage_of, names)
    modules = dict(model.named_modules())
    whole = [path for path, module in modules.items() if _is_whole(path, module, names)]
    innermost = [path for path in whole if not any(other != path and _is_in(other, path) for other in whole)]
    skipped = {
        path: f"{type(module).__name__} has no projections of known names: {_names(module)}"
        for path, module in modules.items()
        if "attention" in type(module).__name__.lower()
        and not any(_is_in(path, each) or _is_in(each, path) for each in innermost)
    }
    return [_read(path, modules, innermost, stage_of) for path in innermost], skipped


def _stage_of(names: Mapping[str, str], name: str) -> str | None:
    if name in names:
        return names[name]
    known = named(name)
    return known and known.stage


def _is_whole(path: str, module: Any, names: Mapping[str, str]) -> bool:
    """Whether a module holds the projections of queries, keys and values."""
    inside = (name for name, _ in module.named_parameters())
    has = {names.get(_joined(path, name)) or _stage_of(names, name) for name in inside}
    return has >= _SEPARATE or "w_qkv" in has or has_latents(module)


def _read(path: str, modules: Mapping[str, Any], others: list[str], stage_of: StageOf) -> AttentionModule:
    stages = _parameters(path, modules[path], stage_of)
    parent = path.rpartition(".")[0]
    is_alone = path and not any(other != path and _is_in(other, parent) for other in others)
    if is_alone and "w_o" not in stages.values():
        beside = _parameters(parent, modules[parent], stage_of)
        stages |= {name: stage for name, stage in beside.items() if stage in ("w_o", "b_o")}
    tensors = dict(modules[""].named_parameters())
    owners = {name: modules.get(name.rpartition(".")[0], modules[path]) for name in stages}
    aside, extra = {}, extra_modules(modules[path])
    if _norms_all_heads(modules[path], stages, tensors):
        aside = {name: stage for name, stage in stages.items() if stage not in ("w_o", "b_o")}
        extra |= {stage: owners[name] for name, stage in aside.items() if stage in (*_NORMS, "w_v")}
    elif has_latents(modules[path]):
        aside = {name: stage for name, stage in stages.items() if stage not in ("w_o", "b_o")}
    stages = {name: stage for name, stage in stages.items() if name not in aside}
    owners = {name: owners[name] for name in stages}
    return AttentionModule(path, modules[path], {name: tensors[name] for name in stages}, stages, owners, extra)


def _norms_all_heads(module: Any, stages: Mapping[str, str], tensors: Mapping[str, Any]) -> bool:
    """Whether queries and keys are normed before they are split into heads."""
    names = {stage: name for name, stage in stages.items()}
    if not {*_NORMS, "w_q"} <= names.keys() or declared_heads(module) in (None, 1):
        return False
    return tensors[names["g_q_norm"]].shape[-1] == tensors[names["w_q"]].shape[0]


def declared_heads(module: Any) -> int | None:
    """The number of heads that a module declares."""
    for owner in (module, getattr(module, "config", None)):
        for name in _HEADS:
            if isinstance(n_heads := getattr(owner, name, None), int) and n_heads > 0:
                return n_heads
    return None


def _parameters(path: str, module: Any, stage_of: StageOf) -> dict[str, str]:
    """The full names and the stages of a module's projections and norms."""
    names = (_joined(path, name) for name, _ in module.named_parameters())
    known = {name: stage for name in names if (stage := stage_of(name))}
    return {name: stage for name, stage in known.items() if stage == "sinks" or stage[:2] in ("w_", "b_", "g_")}


def _names(module: Any) -> str:
    return ", ".join([name for name, _ in module.named_parameters()][:8]) or "no parameters"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_in(path: str, other: str) -> bool:
    """Whether a path equals another or lies inside it."""
    return not other or path == other or path.startswith(f"{other}.")


COMPUTED = ("q", "k", "v", "attention", "concat", "output")  # the recorded arrays that the module computes
_ADDED = ("alibi", POSITION_BIAS)  # arguments besides masks that are added to scores
_CONTEXTS = ("key", "encoder_hidden_states", "key_value_states", "context", "memory")


class Call:
    """The arrays recorded by hooks during one call of a module; `arrays` has names that `compare` reads."""

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
        """Record the inputs of the module; OwnArraysError if none are tokens, or there is no such sentence."""
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
        """Record the input of keys, unless it equals that of queries."""
        context = self._of_sentence(of_keys)
        is_other = of_keys is not of_queries and not np.array_equal(context, self._of_sentence(of_queries))
        if is_other and context.ndim == 2:
            self.arrays["context"] = context

    def project(self, stage: str, entering: Any, leaving: Any) -> None:
        """Record the result of a projection."""
        if stage == "w_o":
            self.arrays["concat"] = self._of_sentence(entering)
            if self._attention.has_output_outside or self._is_added_to:
                self.arrays["output"] = self._of_sentence(leaving)
        elif stage != "w_qkv":
            self.arrays[stage[-1]] = self._by_heads(stage, self._of_sentence(leaving))
            self._entering[stage] = entering
            if {"w_q", "w_k"} <= self._entering.keys() and "context" not in self.arrays:
                self._keep_context(self._entering["w_k"], self._entering["w_q"])

    def record_extra(self, what: str, leaving: Any) -> None:
        """Record the result of one of the extra modules."""
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
        """Record the output of the module, and its attention if it returns it."""
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
        """Queries, keys or values split into heads, if their number is known."""
        n_heads = self._attention.n_heads
        if array.ndim != 2 or not n_heads or (stage != "w_q" and self._width is None):
            return array
        if stage == "w_q" and array.shape[1] % n_heads == 0:
            self._width = array.shape[1] // n_heads
        if not self._width or array.shape[1] % self._width:
            return array
        return array.reshape(len(array), -1, self._width).swapaxes(0, 1)

    def _for_each_query(self, mask: np.ndarray) -> np.ndarray:
        """A bias shared by all queries, repeated for each."""
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
    """A copy of a tensor's current numbers."""
    return np.asarray(as_numpy(tensor)).copy()


def _by_name(module: Any, args: tuple, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, in the order of the signature."""
    bound = inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments
    more = bound.pop("kwargs", {})
    return {**bound, **(more if isinstance(more, dict) else {})}


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "detach") and getattr(value, "ndim", 0) >= 2


def _is_nested(tensor: Any) -> bool:
    """Whether a tensor is nested, as `nn.TransformerEncoder` uses to cut off padding."""
    return bool(getattr(tensor, "is_nested", False))


def _is_mask(name: str) -> bool:
    """Whether an argument is a mask or bias of scores."""
    return "mask" in name or name in _ADDED


def _adds_up(array: np.ndarray) -> bool:
    """Whether rows sum to 1, as in attention but hardly in a bias."""
    return bool((np.abs(array.sum(axis=-1) - 1) < NEAR_ONE).all())


def _are_shares(array: np.ndarray, n_queries: int) -> bool:
    """Whether an array is attention, even if its rows wrongly don't sum to 1."""
    return array.shape[-2] == n_queries and bool((array >= 0).all()) and bool(array.any())
