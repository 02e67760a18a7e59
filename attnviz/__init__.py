"""attnviz: attention, number by number.

Compute a pass: `trace_of` from a sentence, `attend` from arrays, `scaled_dot_product_attention` as in PyTorch.
Look inside: a `Trace` maps the names of stages to arrays; `trace.terms` takes a number apart.
Check your own arrays: `compare`; in a test of yours `attnviz.testing.assert_attention`.
Check a PyTorch module: `check` compares it with a library's; `record` keeps what a model computes.
Show any of these: `show` in a notebook, `page` as one HTML file.
Documentation: the repository's README.md, docs/own-code.md and docs/api.md.

>>> from attnviz import compare, show, trace_of
>>> trace = trace_of("the cat sat on the mat")
>>> trace["attention"].shape
(2, 6, 6)
>>> list(trace)[-4:]
['heads', 'concat', 'contributions', 'output']
>>> print(*trace.terms("scaled", (0, 1, 2)).cells)
scores[0,1,2]
>>> print(compare(trace, {"attention": trace["attention"].value}))
Attention agrees to float64 rounding.
>>> show(trace)  # doctest: +ELLIPSIS
attnviz: “the cat sat on the mat”, one page of ... kB
"""

from importlib import import_module
from typing import TYPE_CHECKING

from attnviz.core.attention import attend, trace_of
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError, ChangeError, OwnArraysError, SettingsError, UnexpectedError
from attnviz.core.onnxattention import onnx_attention
from attnviz.core.operations.activations import GELU, ReLU
from attnviz.core.operations.norms import LayerNorm, RMSNorm
from attnviz.core.operations.rotation import Rotation
from attnviz.core.operations.softmax import Softmax, SumNormalise
from attnviz.core.parameters import Parameters
from attnviz.core.seq2seq import attend_seq2seq
from attnviz.core.settings import Settings
from attnviz.core.stage import Stage
from attnviz.core.torchattention import scaled_dot_product_attention
from attnviz.core.trace import Trace

if TYPE_CHECKING:
    from attnviz.checks.recording.check import Check, check
    from attnviz.checks.recording.head_effects import head_effects
    from attnviz.checks.recording.recorded import Recorded, record
    from attnviz.checks.report.compare_arrays import compare
    from attnviz.checks.report.verdict import Comparison
    from attnviz.viewer.page import page, show

__version__ = "0.1.0"

__all__ = [
    "GELU",
    "ArrayError",
    "Change",
    "ChangeError",
    "Check",
    "Comparison",
    "LayerNorm",
    "OwnArraysError",
    "Parameters",
    "RMSNorm",
    "ReLU",
    "Recorded",
    "Rotation",
    "Settings",
    "SettingsError",
    "Softmax",
    "Stage",
    "SumNormalise",
    "Trace",
    "UnexpectedError",
    "attend",
    "attend_seq2seq",
    "check",
    "compare",
    "head_effects",
    "onnx_attention",
    "page",
    "record",
    "scaled_dot_product_attention",
    "show",
    "trace_of",
]

_LAZY = {
    "Comparison": "attnviz.checks.report.verdict",
    "Check": "attnviz.checks.recording.check",
    "check": "attnviz.checks.recording.check",
    "compare": "attnviz.checks.report.compare_arrays",
    "head_effects": "attnviz.checks.recording.head_effects",
    "page": "attnviz.viewer.page",
    "Recorded": "attnviz.checks.recording.recorded",
    "record": "attnviz.checks.recording.recorded",
    "show": "attnviz.viewer.page",
}


def __getattr__(name: str) -> object:
    """Import checks and viewer on first use: computing alone needs neither texts nor viewer."""
    if name not in _LAZY:
        raise AttributeError(f"module 'attnviz' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    """The public names, including those not imported yet; submodules and helpers are left out of completion."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
