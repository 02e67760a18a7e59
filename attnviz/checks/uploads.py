"""Uploads: a file that the browser sends, its comparison with a pass, and what the walkthrough shows of it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct, structs

from attnviz.checks.read.decode_steps import CACHE_STAGES
from attnviz.checks.read.files import read_file
from attnviz.checks.read.labels import with_words, words_in, words_of
from attnviz.checks.read.layouts import IN_OUT, OUT_IN, recomputed, stages
from attnviz.checks.read.limits import bounded_stages
from attnviz.checks.read.names import layers_of
from attnviz.checks.report.compare_arrays import compare
from attnviz.checks.report.verdict import AS_COMPUTED, Comparison
from attnviz.contract.base import received
from attnviz.core.attention import attend, trace_of
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_STAGE_NUMBERS, MAX_TOKENS
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import Pairs, Rotation
from attnviz.core.order import ALL_ACTIVATIONS, NORMS, LayerConfig
from attnviz.core.parameters import Parameters
from attnviz.core.settings import OPTIONS, Settings
from attnviz.core.tokens import clean
from attnviz.core.trace import Trace
from attnviz.explain.steps import full_title
from attnviz.models import statefile
from attnviz.models.model import Built, PickableModel

# --- What the walkthrough shows, and its file


@dataclass(frozen=True, eq=False)
class UserStages:
    """Stages that the user's code computed by mistake, in place of a pass's own."""

    values: Mapping[str, np.ndarray]
    at: str  # the first stage that differs; it may follow from these

    def of(self, trace: Trace) -> Trace:
        return trace.with_stages(self.values, AS_COMPUTED)


MISSING_UPLOAD = UserStages({}, "")  # stands for stages that an address names, which no address holds
_MOST_HEADS, _WIDEST = (max(map(int, OPTIONS[name].allowed)) for name in ("n_heads", "d_model"))
_MOST = (("heads", _MOST_HEADS), ("tokens", MAX_TOKENS), ("tokens that are looked at", MAX_TOKENS))


@dataclass(frozen=True, eq=False)
class UserParameters:
    """The stages that start the user's pass. The pass is larger, and recomputed in a millisecond."""

    arrays: Mapping[str, np.ndarray]
    block: LayerConfig
    words: tuple[str, ...]
    key_words: tuple[str, ...]

    @classmethod
    def of(
        cls, trace: Trace, block: LayerConfig, texts: Mapping[str, tuple[str, ...]], names: Iterable[str] = ()
    ) -> UserParameters:
        """The parameters of a pass whose arrays have these names; OwnArraysError if it is too large to be shown."""
        for (what, most), n in zip(_MOST, trace["attention"].shape, strict=True):
            if n > most:
                raise OwnArraysError(f"The walkthrough shows at most {most} {what}; this pass has {n}.")
        widest = max(stage.shape[-1] for stage in trace.stages)
        if widest > _WIDEST:
            raise OwnArraysError(f"The walkthrough shows vectors of at most {_WIDEST} numbers; this pass has {widest}.")
        arrays = {stage.name: stage.value for stage in trace.stages if stage.is_given}
        return cls(arrays, block, *words_of(trace, texts, names))

    def trace(self) -> Trace:
        return with_words(recomputed(self.arrays, self.block), self.words, self.key_words)


Upload = UserParameters | PickableModel | UserStages  # arrays, a model, or stages computed by the user's code
_NORMS = {"": None} | NORMS
_CHOICES: Mapping[str, Mapping[str, object]] = {"activation": ALL_ACTIVATIONS, "attn_norm": _NORMS, "mlp_norm": _NORMS}
_LAYER, _MODEL, _WORDS, _KEY_WORDS, _AT = "layer", "microgpt", "tokens", "context_tokens", "first to differ"
_LONGEST = 128  # the longest axis that the walkthrough shows
_BROKEN = "The numbers of this moment are broken: no pass comes of them. Give the file of your own numbers again."


class Layer(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a layer as JSON."""

    n_heads: Annotated[int, Meta(ge=1, le=_LONGEST)]
    d_k: Annotated[int, Meta(ge=1)] | None
    unprojected: bool
    residual: bool
    activation: Literal[tuple(ALL_ACTIVATIONS)]  # type: ignore[valid-type]
    attn_norm: Literal[tuple(_NORMS)]  # type: ignore[valid-type]
    mlp_norm: Literal[tuple(_NORMS)]  # type: ignore[valid-type]
    qk_norm: float | None = None
    rotation: tuple[float, Pairs] | None = None
    softcap: Annotated[float, Meta(gt=0)] | None = None
    alibi: bool = False
    scale: float | None = None

    @classmethod
    def of(cls, config: LayerConfig) -> Layer:
        values: dict[str, Any] = {name: getattr(config, name) for name in cls.__struct_fields__}
        for name, choices in _CHOICES.items():
            values[name] = next(key for key, each in choices.items() if each == values[name])
        values["qk_norm"] = config.qk_norm and config.qk_norm.epsilon
        values["rotation"] = config.rotation and (config.rotation.base, config.rotation.pairs)
        return cls(**values)

    @property
    def block(self) -> LayerConfig:
        values = structs.asdict(self) | {name: choices[getattr(self, name)] for name, choices in _CHOICES.items()}
        values["qk_norm"] = None if self.qk_norm is None else RMSNorm(self.qk_norm)
        values["rotation"] = self.rotation and Rotation(*self.rotation)
        return LayerConfig(**values)


def packed(upload: Upload) -> bytes:
    """An upload as .npz, which `unpacked` restores to the last bit."""
    arrays: dict[str, Any]
    if isinstance(upload, UserParameters):
        layer = msgspec.json.encode(Layer.of(upload.block)).decode()
        arrays = {**upload.arrays, _LAYER: [layer], _WORDS: upload.words, _KEY_WORDS: upload.key_words}
    elif isinstance(upload, UserStages):
        arrays = {_AT: [upload.at], **upload.values}
    else:
        arrays = {_MODEL: np.frombuffer(statefile.to_json(upload.at(0)), np.uint8)}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


@np.errstate(all="ignore")  # a user's numbers may overflow, which is checked afterwards
def unpacked(content: bytes) -> Upload:
    """Restore an upload from an untrusted .npz; OwnArraysError if it isn't one."""
    file = read_file("numbers.npz", content)
    try:
        if _MODEL in file.arrays:
            return Built(statefile.read(file.arrays[_MODEL].astype(np.uint8).tobytes()))
        if any(array.ndim > 3 or max(array.shape, default=1) > _LONGEST for array in file.arrays.values()):
            raise OwnArraysError(_BROKEN)
        if _AT in file.texts:
            return UserStages(file.arrays, file.texts[_AT][0])
        config = msgspec.json.decode(file.texts[_LAYER][0], type=Layer).block
        return UserParameters.of(recomputed(file.arrays, config), config, file.texts)
    except OwnArraysError:
        raise
    except Exception:  # arrays that don't fit each other fail wherever they first meet
        raise OwnArraysError(_BROKEN) from None


# --- Examples

EXAMPLES = {  # labels by name
    "correct": "No mistake",
    "transposed": "A weight used transposed",
    "mask inverted": "The mask the other way round",
    "unscaled": "No division by √d_k",
}
_USUAL = Settings("the cat sat on the mat", mask="causal")
_WEIGHTS = {"w_q": "q_proj.weight", "w_k": "k_proj.weight", "w_v": "v_proj.weight", "w_o": "out_proj.weight"}


def example_file(name: str, trace: Trace | None) -> bytes:
    """One of `EXAMPLES`, perhaps with a mistake, under PyTorch's names, with its words, as an .npz file.

    Input and parameters come from `trace` if it is one layer of self-attention with square matrices.
    """
    if trace is not None and _is_plain(trace):
        words: Sequence[str] = trace.labels.get("query", ())
    else:
        trace, words = trace_of(_USUAL), _USUAL.tokens
    n_heads, d_model, d_k = trace["w_q"].shape
    weights = {each: _joined(trace[each].value) for each in _WEIGHTS}
    mask = trace["mask"].value
    if mask.dtype != bool or mask.all():
        mask = np.tri(len(trace["x"].value), dtype=bool)
    used = weights | {"w_v": weights["w_v"].T} if name == "transposed" else weights
    split = {each: w.reshape(d_model, n_heads, d_k).swapaxes(0, 1) for each, w in used.items() if each != "w_o"}
    made = attend(
        trace["x"].value,
        parameters=Parameters(**split, w_o=used["w_o"]),
        mask=~mask if name == "mask inverted" else mask,
        scale=1.0 if name == "unscaled" else None,
    )
    arrays = {"x": trace["x"].value, **{_WEIGHTS[each]: w.T for each, w in weights.items()}, "mask": mask}
    arrays |= {each: made[each].value for each in ("attention", "output")}
    file = io.BytesIO()
    np.savez(file, **arrays, tokens=np.array(words))  # type: ignore[arg-type]
    return file.getvalue()


def _is_plain(trace: Trace) -> bool:
    has_all = all(each in trace for each in ("x", *_WEIGHTS))
    if trace.n_layers > 1 or not has_all or any(each in trace for each in ("context", "b_q", "b_k", "b_v", "b_o")):
        return False
    return all(_joined(trace[each].value).shape == trace["w_o"].shape for each in _WEIGHTS)


def _joined(weight: np.ndarray) -> np.ndarray:
    """A matrix with its heads side by side, (in, out)."""
    return weight if weight.ndim == 2 else weight.swapaxes(0, 1).reshape(weight.shape[1], -1)


# --- Requests

MAX_NAME_CHARACTERS = 255  # the last characters of a file's name are kept
OWN, SHOWN = "own", "shown"
_HEADS = (*range(1, 17), 20, 24, 25, 32, 40, 48, 64, 96, 128)

# Options of a file, with their choices; the first is the default
_IT = "the pass that the walkthrough shows"
_STAGES = {"": "what its name says, or what is nearest"} | {
    each: full_title(each) for each in stages() if each not in CACHE_STAGES
}
_PASSES = {OWN: "attnviz's pass from the same inputs and weights", SHOWN: _IT}
_ORIENTATIONS = {"": "what fits", IN_OUT: f"{IN_OUT}, as in x @ W", OUT_IN: f"{OUT_IN}, as in PyTorch's Linear"}
_MEANINGS = {"": "what fits", "visible": "a key that is seen", "hidden": "a key that is hidden"}
QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "n_heads": ("Heads", {"": "as many as fit"} | {str(n): str(n) for n in _HEADS}),
    "stage": ("This array is", _STAGES),
    "against": ("Compare with", _PASSES),
    "orientation": ("Weights are", _ORIENTATIONS),
    "true_is": ("True in a mask is", _MEANINGS),
}


class UploadRequest(Struct, frozen=True):
    """A request about a file, or about an example, with the answers to `QUESTIONS`."""

    tab: str  # the tab's token
    filename: str  # its last characters, without invisible ones
    example: Literal[("", *EXAMPLES)]  # type: ignore[valid-type]
    n_heads: Literal[tuple(QUESTIONS["n_heads"][1])]  # type: ignore[valid-type]
    stage: Literal[tuple(_STAGES)]  # type: ignore[valid-type]
    against: Literal[tuple(_PASSES)]  # type: ignore[valid-type]
    orientation: Literal[tuple(_ORIENTATIONS)]  # type: ignore[valid-type]
    true_is: Literal[tuple(_MEANINGS)]  # type: ignore[valid-type]


def read(line: bytes) -> UploadRequest:
    """Parse a request; RequestError if it isn't one of ours."""
    request = received(line, UploadRequest)
    return structs.replace(request, filename=clean(request.filename[-MAX_NAME_CHARACTERS:]))


@dataclass(frozen=True, eq=False)
class UploadComparison:
    """The comparison of a file with a pass."""

    comparison: Comparison
    shown: str = ""  # what it was compared with, if that is in the walkthrough
    parameters: UserParameters | None = None  # of the user's own pass, if the walkthrough can show it
    refused: str = ""  # why the walkthrough can't show it

    @property
    def code(self) -> UserStages | None:
        mistaken = self.comparison.mistaken if self.shown or self.parameters else None
        return UserStages(mistaken, self.comparison.at) if mistaken else None


def compared(request: UploadRequest, content: bytes, shown: Trace | None) -> UploadComparison:
    """Compare the arrays of a file with its own pass, or with the one that the walkthrough shows.

    OwnArraysError if the file can't be read, or not as parts of a pass, or if that is too large.
    """
    with bounded_stages(MAX_STAGE_NUMBERS):
        return _compared(request, content, shown)


def _compared(request: UploadRequest, content: bytes, shown: Trace | None) -> UploadComparison:
    if request.example:
        request = structs.replace(request, filename="example.npz", true_is="visible")
    file = read_file(request.filename, content, request.stage or None)
    sizes = {f"size_{name}" for name in file.arrays}  # added by attnviz to its own files
    arrays = {name: each for name, each in file.arrays.items() if name not in sizes}
    options = {"orientation": request.orientation or None, "true_is": request.true_is or None}
    if request.against == SHOWN or request.filename.lower().endswith((".npy", ".csv")):
        return UploadComparison(*_compared_with(shown, arrays, options))
    try:
        n_heads = int(request.n_heads) if request.n_heads else None
        comparison = compare(None, {**arrays, **words_in(file.texts)}, n_heads=n_heads, **options)  # type: ignore[arg-type]
    except OwnArraysError as error:
        raise OwnArraysError(f"{error} Or pick “{_IT}” to compare with.") from None
    if comparison.trace is None or comparison.block is None:
        return UploadComparison(comparison)
    try:
        parameters = UserParameters.of(comparison.trace, comparison.block, file.texts, arrays)
    except OwnArraysError as error:
        return UploadComparison(comparison, refused=str(error))
    return UploadComparison(comparison, parameters=parameters)


def _compared_with(shown: Trace | None, arrays: dict[str, np.ndarray], options: dict) -> tuple[Comparison, str]:
    """The comparison with the nearest layer of the shown pass, or if several are in the file the first that differs."""
    if shown is None:
        raise OwnArraysError("The walkthrough shows no pass to compare with. Type a sentence there first.")
    n_layers = len(layers_of(arrays))
    if n_layers > 1 and n_layers != shown.n_layers:
        raise OwnArraysError(f"The file has the arrays of {n_layers} layers, and {_IT} has {shown.n_layers}.")
    comparisons = []
    for layer in range(1, shown.n_layers + 1):
        comparison = compare(shown, arrays, layer=layer, **options)
        comparisons.append((comparison, layer))
        if n_layers > 1 and comparison.first:
            return comparison, f"layer {layer} of {_IT}, the first that differs"
    if n_layers > 1:
        return comparison, f"each of the {n_layers} layers of {_IT}; this is the last"
    nearest, layer = min(comparisons, key=lambda each: each[0].first.roundings if each[0].first else 0.0)
    return nearest, f"layer {layer} of {_IT}" if shown.n_layers > 1 else _IT
