"""Uploads: the arrays, changed stages or model that a user brought, and their file format in a talk."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from attnviz.checks.read.files import ArrayFile, read_file
from attnviz.checks.read.stages import recomputed
from attnviz.checks.read.token_words import with_words, words_of
from attnviz.checks.report.report import AS_COMPUTED
from attnviz.contract.article import Block
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_TOKENS
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import PAIRS, Rotation
from attnviz.core.order import ALL_ACTIVATIONS, NORMS, LayerConfig
from attnviz.core.settings import OPTIONS
from attnviz.core.trace import Trace
from attnviz.models import statefile
from attnviz.models.model import Built, PickableModel


@dataclass(frozen=True, eq=False)
class OwnStages:
    """Stages that the user's code computed by mistake, in place of a pass's own.

    Attributes
    ----------
    values : mapping of stages to ndarray
    at : str
        The first stage that differs; it may follow from these.
    """

    values: Mapping[str, np.ndarray]
    at: str

    def of(self, trace: Trace) -> Trace:
        """The pass with these stages; ArrayError if they belong to another pass."""
        return trace.with_stages(self.values, AS_COMPUTED)


LACKING = OwnStages({}, "")  # stands for stages that an address names, which no address holds


_MOST = {"head": max(OPTIONS["n_heads"].allowed), "query": MAX_TOKENS, "key": MAX_TOKENS}
_WIDEST = max(OPTIONS["d_model"].allowed)


@dataclass(frozen=True, eq=False)
class OwnParameters:
    """The stages that start the user's pass. The pass is larger, and recomputed in a millisecond."""

    given: Mapping[str, np.ndarray]
    block: Block
    words: tuple[str, ...]
    words_of_keys: tuple[str, ...]

    @classmethod
    def of(
        cls, trace: Trace, block: Block, texts: Mapping[str, tuple[str, ...]], names: Iterable[str] = ()
    ) -> OwnParameters:
        """The parameters of a pass that reaches from queries, keys and values to head outputs.

        Parameters
        ----------
        trace : Trace
        block : Block
            The settings of its layer.
        texts : mapping of str to tuple of str
            Words; tokens are numbered if no counts match.
        names : iterable of str
            The names of the given arrays.

        Raises
        ------
        OwnArraysError
            If the pass is larger than the walkthrough shows.
        """
        n_heads, n_queries, n_keys = trace["attention"].shape
        for what, n in zip(_MOST, (n_heads, n_queries, n_keys), strict=True):
            if n > _MOST[what]:
                raise OwnArraysError(f"The walkthrough shows at most {_MOST[what]} {_PLURAL[what]}; this pass has {n}.")
        widest = max(stage.shape[-1] for stage in trace.stages)
        if widest > _WIDEST:
            raise OwnArraysError(f"The walkthrough shows vectors of at most {_WIDEST} numbers; this pass has {widest}.")
        given = {stage.name: stage.value for stage in trace.stages if stage.is_given}
        return cls(given, block, *words_of(trace, texts, names))

    def trace(self) -> Trace:
        return with_words(recomputed(self.given, self.block), self.words, self.words_of_keys)


_PLURAL = {"head": "heads", "query": "tokens", "key": "tokens that are looked at"}


_NORMS = {"": None} | NORMS
_LAYER, _MODEL, _WORDS, _WORDS_OF_KEYS = "layer", "microgpt", "tokens", "context_tokens"
_AT = "first to differ"
_LONGEST = 128  # of an axis that the walkthrough shows
_BROKEN = "The numbers of this moment are broken: no pass comes of them. Give the file of your own numbers again."


class Layer(Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a layer as JSON."""

    n_heads: Annotated[int, Meta(ge=1, le=_LONGEST)]
    d_k: Annotated[int, Meta(ge=1)] | None
    unprojected: bool
    residual: bool
    activation: Literal[tuple(ALL_ACTIVATIONS)]
    attn_norm: Literal[tuple(_NORMS)]
    mlp_norm: Literal[tuple(_NORMS)]
    qk_norm: float | None = None
    rotation: tuple[float, Literal[PAIRS]] | None = None
    softcap: Annotated[float, Meta(gt=0)] | None = None
    alibi: bool = False
    scale: float | None = None

    @classmethod
    def of(cls, block: LayerConfig) -> Layer:
        """The settings of a block from `core.order.layer_configs`."""
        return cls(
            block.n_heads,
            block.d_k,
            block.unprojected,
            block.residual,
            _name_of(block.activation, ALL_ACTIVATIONS),
            _name_of(block.attn_norm, _NORMS),
            _name_of(block.mlp_norm, _NORMS),
            qk_norm=block.qk_norm and block.qk_norm.epsilon,
            rotation=block.rotation and (block.rotation.base, block.rotation.pairs),
            softcap=block.softcap,
            alibi=block.alibi,
            scale=block.scale,
        )

    @property
    def block(self) -> LayerConfig:
        return LayerConfig(
            self.n_heads,
            self.d_k,
            unprojected=self.unprojected,
            residual=self.residual,
            activation=ALL_ACTIVATIONS[self.activation],
            attn_norm=_NORMS[self.attn_norm],
            mlp_norm=_NORMS[self.mlp_norm],
            qk_norm=None if self.qk_norm is None else RMSNorm(self.qk_norm),
            rotation=self.rotation and Rotation(*self.rotation),
            softcap=self.softcap,
            alibi=self.alibi,
            scale=self.scale,
        )


def packed(upload: OwnParameters | PickableModel | OwnStages) -> bytes:
    """An upload as .npz, which `unpacked` restores to the last bit."""
    if isinstance(upload, OwnParameters):
        layer = msgspec.json.encode(Layer.of(upload.block)).decode()
        arrays = {**upload.given, _LAYER: np.array([layer]), _WORDS: np.array(upload.words)}
        arrays[_WORDS_OF_KEYS] = np.array(upload.words_of_keys)
    elif isinstance(upload, OwnStages):
        arrays = {_AT: np.array([upload.at]), **upload.values}
    else:
        arrays = {_MODEL: np.frombuffer(statefile.to_json(upload.at(0)), np.uint8)}
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


@np.errstate(all="ignore")  # a user's numbers may overflow, which is checked afterwards
def unpacked(content: bytes) -> OwnParameters | PickableModel | OwnStages:
    """Restore an upload from an untrusted .npz; OwnArraysError if it isn't one."""
    file = read_file("numbers.npz", content)
    try:
        return _read(file)
    except OwnArraysError:
        raise
    except Exception:  # arrays that don't fit each other fail wherever they first meet
        raise OwnArraysError(_BROKEN) from None


def _read(file: ArrayFile) -> OwnParameters | PickableModel | OwnStages:
    if _MODEL in file.arrays:
        return Built(statefile.read(file.arrays[_MODEL].astype(np.uint8).tobytes()))
    if any(array.ndim > 3 or max(array.shape, default=1) > _LONGEST for array in file.arrays.values()):
        raise OwnArraysError(_BROKEN)
    if _AT in file.texts:
        return OwnStages(file.arrays, file.texts[_AT][0])
    layer = msgspec.json.decode(file.texts[_LAYER][0], type=Layer)
    return OwnParameters.of(recomputed(file.arrays, layer.block), layer.block, file.texts)


def _name_of(value: object, names: dict[str, object]) -> str:
    return next(name for name, each in names.items() if each == value)
