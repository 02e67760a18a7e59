"""Modules: where attention is in a PyTorch module, by the names of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from attnviz.checks.names import named
from attnviz.checks.recording.besides import besides, has_latents

_SEPARATE = {"w_q", "w_k", "w_v"}
_NORMS = ("g_q_norm", "g_k_norm")
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads", "h")
_OWN_NAMES: Mapping[str, str] = {}

StageOf = Callable[[str], str | None]
"""The stage that a parameter of some name is."""


@dataclass(frozen=True, eq=False)
class AttentionModule:
    """A module that computes attention.

    Attributes
    ----------
    path : str
        Its name in the model; empty for the model itself.
    module : torch.nn.Module
    parameters : mapping of names to tensors
        Those of its projections and norms, by their full names.
    stages : mapping of names to stages
        What each of them is.
    owners : mapping of names to modules
        Which module each belongs to.
    besides : mapping of str to modules
        What is heard beside the projections (see `recording.besides`).
    """

    path: str
    module: Any
    parameters: Mapping[str, Any]
    stages: Mapping[str, str]
    owners: Mapping[str, Any]
    besides: Mapping[str, Any]

    @property
    def projections(self) -> dict[str, Any]:
        """Of "w_q", "w_k", "w_v" and "w_o" those that are layers of their own."""
        return {
            self.stages[name]: owner
            for name, owner in self.owners.items()
            if owner is not self.module and self.stages[name].startswith("w_")
        }

    @property
    def has_output_outside(self) -> bool:
        """Whether the last matrix stands beside the module, as in BERT."""
        return any(stage == "w_o" and not name.startswith(self.path) for name, stage in self.stages.items())

    @property
    def n_heads(self) -> int | None:
        """The number of heads that it declares."""
        return declared_heads(self.module)

    @property
    def scale(self) -> float | None:
        """The factor of its scores, as Hugging Face's models declare it: Gemma and T5 have one of their own."""
        declared = getattr(self.module, "scaling", None)
        is_known = type(self.module).__module__.startswith("transformers.")
        return float(declared) if is_known and isinstance(declared, int | float) else None

    @property
    def is_batch_first(self) -> bool:
        """Whether sentences lie along the first axis; in `nn.MultiheadAttention` they lie along the second."""
        return getattr(self.module, "batch_first", True)


def attention_modules(
    model: Any, names: Mapping[str, str] = _OWN_NAMES
) -> tuple[list[AttentionModule], dict[str, str]]:
    """The modules that compute attention, in the model's order, and those that seem to and can't be read, with why.

    Parameters
    ----------
    model : torch.nn.Module
    names : mapping of names to stages, optional
        What parameters are whose names don't say it.
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
    """Whether a module has what makes queries, keys and values, by names inside it: a layer for q, k and v is none."""
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
    aside, heard = {}, besides(modules[path])
    if _norms_all_heads(modules[path], stages, tensors):
        aside = {name: stage for name, stage in stages.items() if stage not in ("w_o", "b_o")}
        heard |= {stage: owners[name] for name, stage in aside.items() if stage in (*_NORMS, "w_v")}
    elif has_latents(modules[path]):
        aside = {name: stage for name, stage in stages.items() if stage not in ("w_o", "b_o")}
    stages = {name: stage for name, stage in stages.items() if name not in aside}
    owners = {name: owners[name] for name in stages}
    return AttentionModule(path, modules[path], {name: tensors[name] for name in stages}, stages, owners, heard)


def _norms_all_heads(module: Any, stages: Mapping[str, str], tensors: Mapping[str, Any]) -> bool:
    """Whether queries and keys are normed before they are cut into heads."""
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
    """The names in full and the stages of a module's projections and norms."""
    names = (_joined(path, name) for name, _ in module.named_parameters())
    known = {name: stage for name in names if (stage := stage_of(name))}
    return {name: stage for name, stage in known.items() if stage == "sinks" or stage[:2] in ("w_", "b_", "g_")}


def _names(module: Any) -> str:
    return ", ".join([name for name, _ in module.named_parameters()][:8]) or "no parameters"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_in(path: str, other: str) -> bool:
    """Whether a path is another, or of a module inside it."""
    return not other or path == other or path.startswith(f"{other}.")
