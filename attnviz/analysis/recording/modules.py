"""Modules: where attention is in a PyTorch module, by the names of its parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from attnviz.analysis.check.names import named

_SEPARATE = {"w_q", "w_k", "w_v"}
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads", "h")


@dataclass(frozen=True, eq=False)
class AttentionModule:
    """A module that computes attention.

    Attributes
    ----------
    path : str
        Its name in the model; empty for the model itself.
    module : torch.nn.Module
    parameters : mapping of names to tensors
        Those of its projections, by their full names.
    projections : mapping of stages to modules
        Of "w_q", "w_k", "w_v" and "w_o" those that are modules of their own.
    """

    path: str
    module: Any
    parameters: Mapping[str, Any]
    projections: Mapping[str, Any]

    @property
    def has_output_outside(self) -> bool:
        """Whether the last matrix stands beside the module, as in BERT."""
        return any(named(name).stage == "w_o" and not name.startswith(self.path) for name in self.parameters)

    @property
    def n_heads(self) -> int | None:
        """How many heads it says it has."""
        for owner in (self.module, getattr(self.module, "config", None)):
            for name in _HEADS:
                if isinstance(n_heads := getattr(owner, name, None), int) and n_heads > 0:
                    return n_heads
        return None

    @property
    def is_batch_first(self) -> bool:
        """Whether sentences lie along the first axis; in `nn.MultiheadAttention` they lie along the second."""
        return getattr(self.module, "batch_first", True)


def attention_modules(model: Any) -> tuple[list[AttentionModule], dict[str, str]]:
    """The modules that compute attention, in the model's order, and those that seem to and can't be read, with why."""
    modules = dict(model.named_modules())
    whole = [path for path, module in modules.items() if _is_whole(module)]
    innermost = [path for path in whole if not any(other != path and _is_in(other, path) for other in whole)]
    found = [_read(path, modules, innermost) for path in innermost]
    skipped = {
        path: f"{type(module).__name__} has no projections of known names: {_names(module)}"
        for path, module in modules.items()
        if "attention" in type(module).__name__.lower()
        and not any(_is_in(path, each) or _is_in(each, path) for each in innermost)
    }
    return found, skipped


def _is_whole(module: Any) -> bool:
    """Whether a module has what makes queries, keys and values, by names inside it: a layer for q, k and v is none."""
    has = {known.stage for name, _ in module.named_parameters() if (known := named(name))}
    return has >= _SEPARATE or "w_qkv" in has


def _read(path: str, modules: Mapping[str, Any], others: list[str]) -> AttentionModule:
    parameters = dict(_projecting(path, modules[path]))
    parent = path.rpartition(".")[0]
    is_alone = path and not any(other != path and _is_in(other, parent) for other in others)
    if is_alone and not any(named(name).stage == "w_o" for name in parameters):
        parameters |= {
            name: each for name, each in _projecting(parent, modules[parent]) if named(name).stage in ("w_o", "b_o")
        }
    projections = {}
    for name in parameters:
        owner = name.rpartition(".")[0]
        if owner != path and owner in modules and (stage := named(name).stage).startswith("w_"):
            projections[stage] = modules[owner]
    return AttentionModule(path, modules[path], parameters, projections)


def _projecting(path: str, module: Any) -> Iterator[tuple[str, Any]]:
    for name, parameter in module.named_parameters():
        known = named(_joined(path, name))
        if known and known.stage in {f"{kind}_{each}" for kind in "wb" for each in ("q", "k", "v", "o", "qkv")}:
            yield _joined(path, name), parameter


def _names(module: Any) -> str:
    return ", ".join([name for name, _ in module.named_parameters()][:8]) or "no parameters"


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _is_in(path: str, other: str) -> bool:
    """Whether a path is another, or of a module inside it."""
    return not other or path == other or path.startswith(f"{other}.")
