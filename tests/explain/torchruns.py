"""Scripts for PyTorch: `PYTHONPATH=. python tests/explain/torchruns.py` records what they print, with torch."""

import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np

from attnviz import Parameters, Settings, attend, attend_seq2seq, trace_of
from attnviz.core.trace import Trace
from attnviz.explain import export
from attnviz.explain.export import torch_script

RECORDED = Path(__file__).parents[1] / "data" / "pytorch_scripts.json"


def passes() -> dict[str, Trace]:
    random = np.random.default_rng(14)
    w = [random.normal(size=(2, 6, 3)) for _ in range(6)]
    w_o = random.normal(size=(2, 6, 6))
    b = {"b_q": random.normal(size=(2, 3)), "b_v": random.normal(size=(2, 3)), "b_o": random.normal(size=6)}
    x, seen = random.normal(size=(4, 6)), np.tri(4, k=-1, dtype=bool)
    layers = [Parameters(*w[:3], w_o[0], **b), Parameters(*w[3:], w_o[1])]
    wide = [random.normal(size=(2, 5, 3)) for _ in range(2)]
    crossing = Parameters(w[0], *wide, w_o[0])
    return {
        "causal": trace_of(Settings("the cat sat on the mat", mask="causal", initialiser="pytorch")),
        "two sentences, not scaled": trace_of(Settings("one two", "drei vier fünf", n_heads=4, scaled=False)),
        "two layers with biases, a query that sees nothing": attend(x, parameters=layers, mask=seen, residual=True),
        "a float mask of each head, another width": attend(
            x,
            random.normal(size=(3, 5)),
            parameters=crossing,
            mask=np.where(random.random((2, 4, 3)) < 0.3, -np.inf, random.normal(size=(2, 4, 3))),
        ),
        "nobody sees anything": trace_of(Settings("a b", mask="padding", mask_size=2)),
        "a parameter set by hand": trace_of(Settings("a b c")).with_change("w_q", (0, 1, 2), 3.0),
        "an encoder and a decoder": attend_seq2seq(
            x, x[:3], encoder=layers[:1], decoder=[(layers[1], Parameters(*w[1:4], w_o[0]))], norm="layernorm"
        ),
    }


def run(trace: Trace, script: str) -> str:
    arrays = {name: np.array(each) for name, each in np.load(io.BytesIO(export.arrays(trace))).items()}
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(script.replace('np.load("attnviz.npz")', "beside"), {"beside": arrays})
    return printed.getvalue()


if __name__ == "__main__":
    import torch

    found = {name: (trace, torch_script(trace)) for name, trace in passes().items()}
    runs = {name: {"script": script, "printed": run(trace, script)} for name, (trace, script) in found.items()}
    text = json.dumps({"torch": torch.__version__, "runs": runs}, indent=1, ensure_ascii=False)
    RECORDED.write_text(text + "\n", "utf-8")
    sys.stdout.write(f"{len(runs)} scripts ran with PyTorch {torch.__version__}\n")
