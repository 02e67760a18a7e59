"""Packing: what somebody gave, arrays or a model, as an `.npz` for the file of their talk, and read from one."""

from __future__ import annotations

import io
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta, Struct

from attnviz.checks.files import ArrayFile, read_file
from attnviz.checks.recomputation import recomputed
from attnviz.checks.uploads.parameters import OwnParameters
from attnviz.checks.uploads.stages import OwnStages
from attnviz.core.errors import OwnArraysError
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.rotation import PAIRS, Rotation
from attnviz.core.order import ALL_ACTIVATIONS, NORMS, LayerConfig
from attnviz.models import statefile
from attnviz.models.model import Built, PickableModel

_NORMS = {"": None} | NORMS
_LAYER, _MODEL, _WORDS, _WORDS_OF_KEYS = "layer", "microgpt", "tokens", "context_tokens"
_AT = "first to differ"
_LONGEST = 128
"""Of an axis of what the walkthrough shows."""
_BROKEN = "The numbers of this moment are broken: no pass comes of them. Give the file of your own numbers again."


class Layer(Struct, frozen=True, forbid_unknown_fields=True):
    """A block of somebody's own arrays, as it is written."""

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
        """Those of a block that own arrays are read as (see `core.order.layer_configs`)."""
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
        """The block again."""
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
    """An upload as an `.npz`: `unpacked` gives it back, to the last bit."""
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


@np.errstate(all="ignore")  # of someone's numbers any may overflow; what comes of it is looked at
def unpacked(content: bytes) -> OwnParameters | PickableModel | OwnStages:
    """The upload in an `.npz` that may hold anything.

    Raises
    ------
    OwnArraysError
        If it is none of `packed`.
    """
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
