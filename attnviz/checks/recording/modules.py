"""Modules: find attention in a PyTorch module by the names of its parameters."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from attnviz.checks.read.names import check_names, outputs_beside, stage_named
from attnviz.core.errors import OwnArraysError

POSITION_BIAS = "position_bias"
QUERIES, COMPRESSED, KEYS_AND_VALUES = "latent q", "compressed", "latent kv"
_NORMS = ("g_q_norm", "g_k_norm")
_HEADS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "nhead", "heads", "h")
# DeepSeek's names of the number of heads, the unrotated and rotated dimensions of a key, and the length of a latent
_LATENTS = ("num_heads", "qk_nope_head_dim", "qk_rope_head_dim", "kv_lora_rank")
_DECLARED = {"scale": "scaling", "softcap": "attn_logit_softcapping"}
StageOf = Callable[[str], str]  # from the name of a parameter to its stage
LOOKED_FOR = (
    "Looked for matrices of queries, keys and values, such as q_proj.weight, query.weight, to_q.weight and W_Q, or for "
    "one of all three, such as in_proj_weight, qkv.weight and c_attn.weight"
)


@dataclass(frozen=True, eq=False)
class AttentionModule:
    """A module that computes attention."""

    path: str  # its name in the model; empty for the model itself
    module: Any
    parameters: Mapping[str, Any]  # of projections and norms, by full names
    stages: Mapping[str, str]  # by the same names
    owners: Mapping[str, Any]  # the submodule of each parameter
    extra_modules: Mapping[str, Any]  # submodules to record besides projections, by what they compute
    replaced: Mapping[str, str]  # the stages of parameters in whose place queries, keys and values are recorded

    @property
    def submodules(self) -> dict[str, Any]:
        """The submodules to record by what they compute: the projections that are layers of their own, and more."""
        owners = {self.stages[name]: owner for name, owner in self.owners.items() if owner is not self.module}
        return {stage: each for stage, each in owners.items() if stage[:2] in ("w_", "g_")} | {**self.extra_modules}

    @property
    def has_output_outside(self) -> bool:
        """Whether the output matrix is outside of the module, as in BERT."""
        return any(stage == "w_o" and not name.startswith(self.path) for name, stage in self.stages.items())

    @property
    def note(self) -> str:
        """A sentence on what is recorded in place of the parameters; empty if nothing."""
        if KEYS_AND_VALUES in self.extra_modules:
            return (
                "its keys and values come from a latent. Queries, keys and values are recorded as they are before "
                "RoPE, the dimensions that it turns first."
            )
        if "g_q_norm" in self.extra_modules:
            return (
                "it norms all heads of its queries and keys at once, or by LayerNorm, which attnviz has no operation "
                "for. They are recorded as they are after that."
            )
        return ""

    @property
    def n_heads(self) -> int | None:
        return _declared_heads(self.module)

    @property
    def numbers(self) -> dict[str, float]:
        """The scale and softcap of scores that models of Hugging Face declare; Gemma and T5 have unusual ones."""
        if not self.is_from_huggingface:
            return {}
        numbers = {name: getattr(self.module, declared, None) for name, declared in _DECLARED.items()}
        return {name: float(each) for name, each in numbers.items() if isinstance(each, int | float) and each}

    @property
    def is_from_torch(self) -> bool:
        """Whether it is `nn.MultiheadAttention`."""
        return type(self.module).__module__.startswith("torch.nn.")

    @property
    def is_from_huggingface(self) -> bool:
        return type(self.module).__module__.startswith("transformers.")

    @property
    def divides_alibi(self) -> bool:
        """Whether it divides scores with ALiBi's biases in them, as Falcon; others add these afterwards."""
        return self.is_from_huggingface and type(self.module).__module__.split(".")[2] == "falcon"

    @property
    def is_sin_first(self) -> bool:
        """Whether it is called with sines and cosines, in this order, as GPT-J and CodeGen."""
        return self.is_from_huggingface and type(self.module).__module__.split(".")[2] in ("gptj", "codegen")

    @property
    def is_batch_first(self) -> bool:
        """Whether sentences are on the first axis; by default `nn.MultiheadAttention` has them second."""
        return getattr(self.module, "batch_first", True)


def check_module(rule: str, module: Any) -> None:
    """OwnArraysError with a rule unless this is a PyTorch module."""
    if isinstance(module, type) or not hasattr(module, "named_modules"):
        came = f"the class {module.__name__}. Write {module.__name__}(...)" if isinstance(module, type) else ""
        raise OwnArraysError(f"{rule}; got {came or type(module).__name__}.")


def attention_modules(
    model: Any, names: Mapping[str, str] | None = None
) -> tuple[list[AttentionModule], dict[str, str]]:
    """The attention modules in the model's order, and why others can't be read, by path.

    `names` are the stages of parameters with unknown names.
    """
    stages = names or {}
    check_names(stages, (name for name, _ in model.named_parameters()))
    beside = outputs_beside(name for name, _ in model.named_parameters())

    def stage_of(name: str) -> str:
        return stages.get(name) or (beside[name].stage if name in beside else stage_named(name))

    modules = dict(model.named_modules())
    whole = []  # the paths of those that hold the projections of queries, keys and values
    for path, module in modules.items():
        has = {stages.get(f"{path}.{name}") or stage_of(name) for name, _ in module.named_parameters()}
        if has >= {"w_q", "w_k", "w_v"} or "w_qkv" in has or latents_of(module):
            whole.append(path)
    innermost = [path for path in whole if not any(other != path and _is_in(other, path) for other in whole)]
    skipped = {}
    for path, module in modules.items():
        is_read = any(_is_in(path, each) or _is_in(each, path) for each in innermost)
        if "attention" in type(module).__name__.lower() and not is_read:
            skipped[path] = f"{type(module).__name__} has no projections of known names: {parameter_names(module)}"
    return [_read(path, modules, innermost, stage_of) for path in innermost], skipped


def parameter_names(module: Any) -> str:
    """The first names of a module's parameters, listed for an error."""
    names = [name for name, _ in module.named_parameters()]
    return f"{', '.join(names[:8])}{' ...' * (len(names) > 8)}" or "no parameters"


def _read(path: str, modules: Mapping[str, Any], others: list[str], stage_of: StageOf) -> AttentionModule:
    module, parent = modules[path], path.rpartition(".")[0]
    stages = _parameters(path, module, stage_of)
    is_alone = path and not any(other != path and _is_in(other, parent) for other in others)
    if is_alone and "w_o" not in stages.values():
        outside = _parameters(parent, modules[parent], stage_of)
        stages |= {name: stage for name, stage in outside.items() if stage in ("w_o", "b_o")}
    tensors = dict(modules[""].named_parameters())
    owners = {name: modules.get(name.rpartition(".")[0], module) for name in stages}
    children, extra = dict(module.named_modules()), {}
    if "relative_attention_bias" in children:
        extra[POSITION_BIAS] = children["relative_attention_bias"]
    if is_latent := bool(latents_of(module)):
        extra[QUERIES] = children.get("q_b_proj") or children["q_proj"]
        extra[COMPRESSED], extra[KEYS_AND_VALUES] = children["kv_a_proj_with_mqa"], children["kv_b_proj"]
    is_normed = _norms_otherwise(module, stages, tensors, owners)
    replaced: dict[str, str] = {}
    if is_latent or is_normed:
        replaced = {name: stage for name, stage in stages.items() if stage not in ("w_o", "b_o")}
        stages = {name: stage for name, stage in stages.items() if name not in replaced}
        if is_normed:
            extra |= {stage: owners[name] for name, stage in replaced.items() if stage in (*_NORMS, "w_v", "w_qkv")}
            extra = {stage: owner for stage, owner in extra.items() if owner is not module}
    owners = {name: owners[name] for name in stages}
    parameters = {name: tensors[name] for name in stages}
    return AttentionModule(path, module, parameters, stages, owners, extra, replaced)


def latents_of(module: Any) -> list[int]:
    """The `_LATENTS` of latent attention (MLA), if a module has its submodules and declares them; else none."""
    if not {"kv_a_proj_with_mqa", "kv_b_proj", "o_proj"} <= dict(module.named_modules()).keys():
        return []
    sizes: list[Any] = [getattr(module, name, None) for name in _LATENTS]
    return sizes if all(isinstance(each, int) for each in sizes) else []


def _norms_otherwise(
    module: Any, stages: Mapping[str, str], tensors: Mapping[str, Any], owners: Mapping[str, Any]
) -> bool:
    """Whether queries and keys are normed otherwise than by RMSNorm of each head."""
    names = {stage: name for name, stage in stages.items()}
    if not names.keys() >= {*_NORMS}:
        return False
    gain, norm = tensors[names["g_q_norm"]], owners[names["g_q_norm"]]
    if len(gain.shape) > 1 or getattr(norm, "bias", None) is not None or type(norm).__name__.endswith("LayerNorm"):
        return True
    is_of_all = "w_q" in names and gain.shape[-1] == tensors[names["w_q"]].shape[0]
    return is_of_all and _declared_heads(module) != 1


def _declared_heads(module: Any) -> int | None:
    for owner in (module, getattr(module, "config", None)):
        for name in _HEADS:
            if isinstance(n_heads := getattr(owner, name, None), int) and n_heads > 0:
                return n_heads
    return None


def _parameters(path: str, module: Any, stage_of: StageOf) -> dict[str, str]:
    """The full names and the stages of a module's projections and norms."""
    names = (f"{path}.{name}".lstrip(".") for name, _ in module.named_parameters())
    known = {name: stage for name in names if (stage := stage_of(name))}
    return {name: stage for name, stage in known.items() if stage == "sinks" or stage[:2] in ("w_", "b_", "g_")}


def _is_in(path: str, other: str) -> bool:
    return not other or path == other or path.startswith(f"{other}.")


@contextmanager
def in_eval_mode(*modules: Any) -> Iterator[None]:
    """Switch modules to eval mode, and restore each submodule's mode afterwards."""
    parts = [part for module in modules for _, part in module.named_modules() if hasattr(part, "training")]
    modes = [part.training for part in parts]
    try:
        for module in modules:
            if hasattr(module, "eval"):
                module.eval()
        yield
    finally:
        for part, was_training in zip(parts, modes, strict=True):  # a module sets the mode of its parts, after it
            if part.training != was_training:
                part.train(was_training)
