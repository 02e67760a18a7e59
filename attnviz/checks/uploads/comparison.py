"""Own comparisons: what somebody sends, compared with a pass; and their own pass, for the walkthrough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec import structs

from attnviz.checks.files import read_file
from attnviz.checks.layers import layers_of
from attnviz.checks.sentence import of_words
from attnviz.checks.uploads.examples import EXAMPLE_NAME
from attnviz.checks.uploads.parameters import OwnParameters
from attnviz.checks.uploads.request import SHOWN, OwnRequest
from attnviz.checks.uploads.stages import OwnStages
from attnviz.checks.wording.report import Comparison, compare
from attnviz.core.errors import OwnArraysError
from attnviz.core.trace import Trace

_IT = "the pass that the walkthrough shows"
_SINGLE = (".npy", ".csv")
_LACKS_STAGES = "Or pick “the pass that the walkthrough shows” to compare with."


@dataclass(frozen=True, eq=False)
class OwnComparison:
    """The outcome for a file.

    Attributes
    ----------
    comparison : Comparison
    shown : str
        What it was compared with, if that is in the walkthrough; empty for a pass of its own.
    parameters : OwnParameters or None
        What its own pass begins with, if the walkthrough can show that.
    code : OwnStages or None
        The stages that the mistakes make otherwise, if any are found and the walkthrough can show the pass.
    refused : str
        Why the walkthrough can't.
    """

    comparison: Comparison
    shown: str
    parameters: OwnParameters | None
    code: OwnStages | None
    refused: str


def compared(request: OwnRequest, content: bytes, shown: Trace | None) -> OwnComparison:
    """Compare the arrays of a file, perhaps of an example's.

    Parameters
    ----------
    request : OwnRequest
    content : bytes
        The file's.
    shown : Trace or None
        The pass that the walkthrough shows.

    Raises
    ------
    OwnArraysError
        If it can't be read, or not as parts of a pass.
    """
    if request.example:
        request = structs.replace(request, filename=EXAMPLE_NAME, true_is="visible")
    read = read_file(request.filename, content, request.stage or None)
    arrays = _without_sizes(read.arrays)
    options = {"orientation": request.orientation or None, "true_is": request.true_is or None}
    if request.against == SHOWN or request.filename.lower().endswith(_SINGLE):
        comparison, beside = _beside(shown, arrays, options)
        return OwnComparison(comparison, beside, None, _code(comparison), "")
    try:
        n_heads = int(request.n_heads) if request.n_heads else None
        comparison = compare(None, {**arrays, **of_words(read.texts)}, n_heads=n_heads, **options)
    except OwnArraysError as error:
        raise OwnArraysError(f"{error} {_LACKS_STAGES}") from None
    parameters, refused = None, ""
    if comparison.trace is not None:
        try:
            parameters = OwnParameters.of(comparison.trace, comparison.block, read.texts, arrays)
        except OwnArraysError as error:
            refused = str(error)
    return OwnComparison(comparison, "", parameters, _code(comparison) if parameters else None, refused)


def _code(comparison: Comparison) -> OwnStages | None:
    return OwnStages(comparison.mistaken, comparison.at) if comparison.mistaken else None


def _beside(shown: Trace | None, arrays: dict[str, np.ndarray], options: dict) -> tuple[Comparison, str]:
    """The comparison with the layer of a pass that they are nearest to, and which one that is."""
    if shown is None:
        raise OwnArraysError("The walkthrough shows no pass to compare with. Type a sentence there first.")
    if (n_layers := len(layers_of(arrays))) > 1:
        return _layer_by_layer(shown, arrays, n_layers, options)
    comparisons = [(compare(shown, arrays, layer=layer, **options), layer) for layer in range(1, shown.n_layers + 1)]
    nearest, layer = min(comparisons, key=lambda each: each[0].first.roundings if each[0].first else 0.0)
    return nearest, f"layer {layer} of {_IT}" if shown.n_layers > 1 else _IT


def _layer_by_layer(
    shown: Trace, arrays: dict[str, np.ndarray], n_layers: int, options: dict
) -> tuple[Comparison, str]:
    """The comparison with the first layer that differs, with the last where all agree; and which one that is."""
    if n_layers != shown.n_layers:
        raise OwnArraysError(f"The file has the arrays of {n_layers} layers, and {_IT} has {shown.n_layers}.")
    for layer in range(1, n_layers + 1):
        comparison = compare(shown, arrays, layer=layer, **options)
        if comparison.first:
            return comparison, f"layer {layer} of {_IT}, the first that differs"
    return comparison, f"each of the {n_layers} layers of {_IT}; this is the last"


def _without_sizes(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays without what attnviz's own file has beside each of its stages, for its script."""
    return {name: each for name, each in arrays.items() if not (name[:5] == "size_" and name[5:] in arrays)}
