"""Upload requests: a file that the browser sends, its options, and the comparison with a pass."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from attnviz.checks.read.files import read_file
from attnviz.checks.read.layouts import IN_OUT, OUT_IN
from attnviz.checks.read.names import layers_of
from attnviz.checks.read.stages import stages
from attnviz.checks.read.token_words import words_in
from attnviz.checks.report.report import Comparison, compare
from attnviz.checks.uploads import OwnParameters, OwnStages
from attnviz.contract.base import received
from attnviz.core.attention import attend, trace_of
from attnviz.core.errors import OwnArraysError
from attnviz.core.parameters import Parameters
from attnviz.core.settings import Settings
from attnviz.core.tokens import cleaned
from attnviz.core.trace import Trace
from attnviz.explain.steps import full_title

# Labels by name
EXAMPLES = {
    "correct": "No mistake",
    "transposed": "A weight used transposed",
    "mask inverted": "The mask the other way round",
    "unscaled": "No division by √d_k",
}

EXAMPLE_NAME = "example.npz"

_USUAL = Settings("the cat sat on the mat", mask="causal")
_WEIGHTS = ("w_q", "w_k", "w_v", "w_o")


def example_file(name: str, trace: Trace | None) -> bytes:
    """The arrays of an example with their words, as an .npz file."""
    words = trace.labels.get("query", ()) if trace and _is_plain(trace) else _USUAL.tokens
    file = io.BytesIO()
    np.savez(file, **example(name, trace), tokens=np.array(words))
    return file.getvalue()


def example(name: str, trace: Trace | None) -> dict[str, np.ndarray]:
    """Arrays under PyTorch's names: input, weights, mask, attention and output.

    Parameters
    ----------
    name : str
        One of `EXAMPLES`, which may contain a mistake.
    trace : Trace or None
        The pass to take input and parameters from, if it is one layer of self-attention with square matrices.
    """
    trace = trace if trace and _is_plain(trace) else trace_of(_USUAL)
    n_heads, d_model, d_k = trace["w_q"].shape
    weights = {each: _joined(trace[each].value) for each in _WEIGHTS}
    mask = trace["mask"].value
    if mask.dtype != bool or mask.all():
        mask = np.tri(len(trace["x"].value), dtype=bool)
    used = weights | {"w_v": weights["w_v"].T} if name == "transposed" else weights
    made = attend(
        trace["x"].value,
        parameters=Parameters(
            **{each: used[each].reshape(d_model, n_heads, d_k).swapaxes(0, 1) for each in _WEIGHTS[:3]}, w_o=used["w_o"]
        ),
        mask=~mask if name == "mask inverted" else mask,
        scale=1.0 if name == "unscaled" else None,
    )
    names = {"w_q": "q_proj.weight", "w_k": "k_proj.weight", "w_v": "v_proj.weight", "w_o": "out_proj.weight"}
    return {
        "x": trace["x"].value,
        **{names[each]: weights[each].T for each in _WEIGHTS},
        "mask": mask,
        "attention": made["attention"].value,
        "output": made["output"].value,
    }


def _is_plain(trace: Trace) -> bool:
    if trace.n_layers > 1 or "context" in trace or not all(each in trace for each in ("x", *_WEIGHTS)):
        return False
    return not any(f"b_{each}" in trace for each in "qkvo") and all(
        _joined(trace[each].value).shape == trace["w_o"].shape for each in _WEIGHTS
    )


def _joined(weight: np.ndarray) -> np.ndarray:
    """A matrix with its heads side by side, (in, out)."""
    return weight if weight.ndim == 2 else weight.swapaxes(0, 1).reshape(weight.shape[1], -1)


MAX_NAME_CHARACTERS = 255  # of a file's name
OWN, SHOWN = "own", "shown"
_HEADS = (*range(1, 17), 20, 24, 25, 32, 40, 48, 64, 96, 128)

# Options of a file, with their choices; the first is the default
QUESTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "n_heads": ("Heads", {"": "as many as fit"} | {str(n): str(n) for n in _HEADS}),
    "stage": (
        "This array is",
        {"": "what its name says, or what is nearest"} | {each: full_title(each) for each in stages()},
    ),
    "against": (
        "Compare with",
        {OWN: "attnviz's pass from the same inputs and weights", SHOWN: "the pass that the walkthrough shows"},
    ),
    "orientation": (
        "Weights are",
        {"": "what fits", IN_OUT: f"{IN_OUT}, as in x @ W", OUT_IN: f"{OUT_IN}, as in PyTorch's Linear"},
    ),
    "true_is": (
        "True in a mask is",
        {"": "what fits", "visible": "a key that is seen", "hidden": "a key that is hidden"},
    ),
}


class OwnRequest(Struct, frozen=True):
    """A request about a file.

    Attributes
    ----------
    tab : str
        The tab's token.
    filename : str
        Its last characters, without invisible ones.
    example : str
        The example to use instead of a file, or "".
    n_heads, stage, against, orientation, true_is : str
        The answers to `QUESTIONS`.
    """

    tab: str
    filename: str
    example: Literal[("", *EXAMPLES)]
    n_heads: Literal[tuple(QUESTIONS["n_heads"][1])]
    stage: Literal[tuple(QUESTIONS["stage"][1])]
    against: Literal[tuple(QUESTIONS["against"][1])]
    orientation: Literal[tuple(QUESTIONS["orientation"][1])]
    true_is: Literal[tuple(QUESTIONS["true_is"][1])]


def read(line: bytes) -> OwnRequest:
    """Parse a request; RequestError if it isn't one of ours."""
    request = received(line, OwnRequest)
    return structs.replace(request, filename=cleaned(request.filename[-MAX_NAME_CHARACTERS:]))


_IT = "the pass that the walkthrough shows"
_SINGLE = (".npy", ".csv")
_LACKS_STAGES = "Or pick “the pass that the walkthrough shows” to compare with."


@dataclass(frozen=True, eq=False)
class OwnComparison:
    """The outcome for a file.

    Attributes
    ----------
    shown : str
        What it was compared with, if that is in the walkthrough; else "".
    parameters : OwnParameters or None
        The user's own pass, if the walkthrough can show it.
    code : OwnStages or None
        The stages that the mistakes change, if the walkthrough can show the pass.
    refused : str
        Why the walkthrough can't show it.
    """

    comparison: Comparison
    shown: str
    parameters: OwnParameters | None
    code: OwnStages | None
    refused: str


def compared(request: OwnRequest, content: bytes, shown: Trace | None) -> OwnComparison:
    """Compare the arrays of a file with a pass.

    Parameters
    ----------
    request : OwnRequest
    content : bytes
    shown : Trace or None
        The pass in the walkthrough.

    Raises
    ------
    OwnArraysError
        If the file can't be read, or not as parts of a pass.
    """
    if request.example:
        request = structs.replace(request, filename=EXAMPLE_NAME, true_is="visible")
    read = read_file(request.filename, content, request.stage or None)
    arrays = _without_sizes(read.arrays)
    options = {"orientation": request.orientation or None, "true_is": request.true_is or None}
    if request.against == SHOWN or request.filename.lower().endswith(_SINGLE):
        comparison, shown_as = _compare_with_shown(shown, arrays, options)
        return OwnComparison(comparison, shown_as, None, _code(comparison), "")
    try:
        n_heads = int(request.n_heads) if request.n_heads else None
        comparison = compare(None, {**arrays, **words_in(read.texts)}, n_heads=n_heads, **options)
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


def _compare_with_shown(shown: Trace | None, arrays: dict[str, np.ndarray], options: dict) -> tuple[Comparison, str]:
    """The comparison with the nearest layer of the shown pass, and that layer's name."""
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
    """The comparison with the first layer that differs, or with the last; and that layer's name."""
    if n_layers != shown.n_layers:
        raise OwnArraysError(f"The file has the arrays of {n_layers} layers, and {_IT} has {shown.n_layers}.")
    for layer in range(1, n_layers + 1):
        comparison = compare(shown, arrays, layer=layer, **options)
        if comparison.first:
            return comparison, f"layer {layer} of {_IT}, the first that differs"
    return comparison, f"each of the {n_layers} layers of {_IT}; this is the last"


def _without_sizes(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Drop the `size_...` arrays that attnviz adds to its own files."""
    return {name: each for name, each in arrays.items() if not (name[:5] == "size_" and name[5:] in arrays)}
