"""Exported scripts compute a pass, in NumPy, PyTorch and microgpt's Python; right passes agree, wrong ones don't."""

import functools
import io
import json
import re

import numpy as np
import pytest
from page import changes_of
from passes import TRACES, planted
from torchruns import RECORDED, passes
from torchruns import run as run_torch
from twotexts import LABELLED

from attnviz import Parameters, Settings, attend, attend_seq2seq, trace_of
from attnviz.core.assembly import input_stages
from attnviz.core.operations.activations import GELU
from attnviz.core.operations.norms import RMSNorm
from attnviz.core.operations.scores import Scale
from attnviz.core.operations.softmax import SumNormalise
from attnviz.core.parameters import Origin
from attnviz.core.stage import split_layer
from attnviz.examples import EXAMPLES
from attnviz.explain import export, pass_as_microgpt
from attnviz.explain.export import torch_script
from attnviz.models import MODELS

OWN = Settings("the cat sat on the mat")
TINY = np.random.default_rng(1).normal(size=(3, 4, 4)) * 1e-150
PASSES = {
    "own": trace_of(OWN),
    "from another sentence": trace_of(
        Settings("one two", "drei vier fünf", d_model=6, n_heads=3, mask="window", mask_size=0, positions="sinusoidal")
    ),
    "padding": trace_of(Settings("a b c", mask="padding", mask_size=3, scaled=False, initialiser="pytorch")),
    "large": trace_of(Settings(" ".join(f"w{i}" for i in range(64)), d_model=128, mask="causal")),
    "set by hand": trace_of(OWN).with_changes(
        *changes_of("masked[0,3,1]=-inf;heads[1]=0;heads[1,2]=0.5;x[0,0]=1e-300;w_q[1,2,3]=2;output[5]=1")
    ),
    "huge": trace_of(OWN).with_changes(*changes_of("concat[0,0]=1.1e308;w_o[0,0]=0.9;output[1,1]=1.7e308")),
    "far apart": trace_of(OWN).with_changes(*changes_of("scaled[0,0,0]=1.7e308;scaled[0,0,1]=-1.7e308")),
    "beside a large number": trace_of(OWN).with_changes(*changes_of("scores[0,0,0]=1e12;v[1,2,3]=-1e12")),
    "tiny": attend(TINY[0], parameters=Parameters(w_o=TINY[1])),
    "float mask": attend(np.eye(3), parameters=Parameters(), mask=np.where(np.tri(3, dtype=bool), 0.5, -np.inf)),
    "two layers": TRACES["two layers that learnt"],
    "a head of a layer set by hand": TRACES["two layers built by hand"].with_changes(*changes_of("heads_2[0]=0")),
    "an encoder and a decoder": LABELLED,
    "a word hidden from an encoder": LABELLED.with_changes(*changes_of("mask_1[0,3]=0;memory[1,2]=0.5")),
    **{f"{example.id} {variant.id}": variant.trace for example in EXAMPLES.values() for variant in example.variants},
}


def computed(trace):
    return [stage.name for stage in trace.stages if not stage.is_given]


script_of = functools.cache(export.script)


@functools.cache
def compiled(script):
    return compile(script.replace('np.load("attnviz.npz")', "beside"), "script", "exec")


def run(trace, capsys, arrays=None, script=None, mine=None, precision="float64"):
    """Run the script beside arrays, by default its own: what it says of each stage, and at the end."""
    with np.errstate():
        exec(compiled(script or script_of(trace)), {"beside": written(trace) | (arrays or {}), "mine": mine})
    *stages, verdict = capsys.readouterr().out.splitlines()
    line = rf"(\w+) in {precision}: (.+), off by \S+, \S+ allowed"
    said = dict(re.fullmatch(line, each).groups() for each in stages)
    assert list(said) == computed(trace)
    return said, verdict


@functools.cache
def written(trace):
    return {name: np.array(value) for name, value in np.load(io.BytesIO(export.arrays(trace))).items()}


def implemented(trace, dtype, script):
    """The stages as somebody else's code computes them in a precision of its own, from beginning to end."""
    lines = script.partition("    return expected\n")[2]
    given = {name: value if value.dtype != float else value.astype(dtype) for name, value in written(trace).items()}
    made = {}
    with np.errstate(all="ignore"):
        exec(lines[: lines.rindex("print(")], {"np": np, "given": given, "compared": made.setdefault})
    return made


def said_of(trace, mine, capsys):
    script = re.sub(r'compared\("(\w+)", \w+\)', r'compared("\1", mine["\1"])', export.script(trace))
    (precision,) = {str(value.dtype) for value in mine.values()}
    return run(trace, capsys, script=script, mine=mine, precision=precision)


def one_bit_off(trace):
    """The arrays, each number that is computed and not set by hand one bit off, up or down."""
    random = np.random.default_rng(0)
    arrays = {}
    for name in computed(trace):
        value = np.array(trace[name].value)
        moved = np.nextafter(value, random.choice([-np.inf, np.inf], value.shape))
        by_hand = [trace[name].is_overridden(index) for index in np.ndindex(value.shape)]
        kept = np.isinf(value) | np.isinf(moved) | np.reshape(by_hand, value.shape)
        arrays[name] = np.where(kept, value, moved)
    return arrays


@pytest.mark.parametrize("trace", PASSES.values(), ids=PASSES)
def test_script_on_its_own_arrays_is_identical(trace, capsys):
    assert run(trace, capsys) == (dict.fromkeys(computed(trace), "identical"), "Every stage agrees.")


@pytest.mark.parametrize("trace", PASSES.values(), ids=PASSES)
def test_other_processor_agrees_to_rounding(trace, capsys):
    said, verdict = run(trace, capsys, one_bit_off(trace))
    assert "agrees to rounding" in said.values()
    assert set(said.values()) <= {"identical", "agrees to rounding"}
    assert verdict == "Every stage agrees."


def test_cancelling_terms_may_be_reordered(capsys):
    trace = trace_of(OWN).with_changes(*changes_of("concat[0,0]=1e12;w_o[0]=1;concat[0,1]=-1e12;w_o[1]=1"))
    backwards = trace["concat"].value[:, ::-1] @ trace["w_o"].value[::-1]
    assert np.abs(backwards - trace["output"].value).max() > 1e-9 * np.abs(trace["output"].value).max()
    said, _ = run(trace, capsys, {"output": backwards})
    assert said["output"] == "agrees to rounding"


@pytest.mark.parametrize(
    "name", ["set by hand", "beside a large number", "tiny", "float mask", "two layers", "an encoder and a decoder"]
)
def test_wrong_number_is_found_in_its_stage(name, capsys):
    trace = PASSES[name]
    stages = computed(trace)
    for stage in {split_layer(each)[0]: each for each in stages}.values() if trace is LABELLED else stages:
        value = np.array(trace[stage].value)
        free = np.isfinite(value)
        for index in trace[stage].overridden:
            free[index] = False
        if not (free & (np.abs(value) > 1e-300)).any():
            continue  # set by hand throughout, or too small for float64 to hold all its bits
        sizes = np.where(free & (np.abs(value) > 1e-300), np.abs(value), np.nan)
        of_rows = np.nanmax(sizes, axis=-1, keepdims=True, initial=0)
        smallest = of_rows == of_rows[of_rows > 0].min()  # the largest number of the row with the smallest ones
        for found in {np.nanargmax(sizes), np.nanargmax(np.where(smallest, sizes, np.nan))}:
            wrong = value.copy()
            wrong.flat[found] *= 1 - 1e-6
            said, verdict = run(trace, capsys, {stage: wrong})
            assert said.pop(stage) == "DIFFERS"
            assert "DIFFERS" not in [said[each] for each in said if stage not in trace[each].inputs]
            assert verdict == "Not every stage agrees."


WRONG_LINES = [
    ("q", "x @ w_q", "x @ w_k"),
    ("scores", "q @ k.swapaxes(-1, -2)", "k @ q.swapaxes(-1, -2)"),
    ("scaled", "np.sqrt(4)", "np.sqrt(8)"),
    ("masked", "np.where(mask, scaled, -np.inf)", "np.where(mask, scaled, -1e9)"),
    ("masked", "np.where(mask, scaled, -np.inf)", "np.where(mask.T, scaled, -np.inf)"),
    ("attention", "axis=-1", "axis=-2"),
    ("heads", "attention @ v", "attention.swapaxes(-1, -2) @ v"),
    ("output", "concat @ w_o", "concat @ w_o.T"),
]


def with_wrong_line(stage, right, wrong):
    trace = trace_of(Settings("the cat sat on the mat", mask="causal"))
    lines, script = "\n".join(trace.lines(stage)), export.script(trace)
    assert right in lines
    assert lines in script
    return trace, script.replace(lines, lines.replace(right, wrong))


@pytest.mark.parametrize(("stage", "right", "wrong"), WRONG_LINES)
def test_wrong_line_is_found(stage, right, wrong, capsys):
    trace, script = with_wrong_line(stage, right, wrong)
    with np.errstate(all="ignore"):
        said, verdict = run(trace, capsys, script=script)
    assert said == {name: "DIFFERS" if name == stage else "identical" for name in computed(trace)}
    assert verdict == "Not every stage agrees."


SIX_LAYERS = {"an encoder and a decoder", "a word hidden from an encoder"}
BEYOND = {
    np.float64: set(),
    np.float32: {"huge", "far apart", "beside a large number"},
    np.float16: {"huge", "far apart", "beside a large number", "004 sum", "004 softmax", "004 code", *SIX_LAYERS},
}
"""The passes with numbers too large for a precision, or with so many layers that its rounding adds up."""


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        (name, dtype)
        for place, dtype in enumerate(BEYOND)
        for name in [*PASSES][place % 2 :: 2]
        if name not in BEYOND[dtype]
    ],
)
def test_correct_pass_agrees_in_its_precision(name, dtype, capsys):
    trace = PASSES[name]
    mine = implemented(trace, dtype, export.script(trace))
    said, verdict = said_of(trace, {stage: value.astype(dtype) for stage, value in mine.items()}, capsys)
    assert verdict == "Every stage agrees.", said


@pytest.mark.parametrize("name", [name for name in PASSES if name not in BEYOND[np.float32]])
def test_script_keeps_float32(name):
    found = {
        stage: value.dtype
        for stage, value in implemented(PASSES[name], np.float32, export.script(PASSES[name])).items()
    }
    assert set(found.values()) == {np.dtype("float32")}, found


@pytest.mark.parametrize("dtype", BEYOND)
@pytest.mark.parametrize(
    ("stage", "right", "wrong"), [each for each in WRONG_LINES if each[0] in ("q", "scaled", "attention", "output")]
)
def test_wrong_line_differs_in_any_precision(stage, right, wrong, dtype, capsys):
    trace, script = with_wrong_line(stage, right, wrong)
    mine = implemented(trace, dtype, script)
    said, verdict = said_of(trace, {stage: value.astype(dtype) for stage, value in mine.items()}, capsys)
    assert said[stage] == "DIFFERS"
    assert "DIFFERS" not in [said[each] for each in list(said)[: list(said).index(stage)]]
    assert verdict == "Not every stage agrees."


@pytest.mark.parametrize("made", ["np.nan * (x @ w_q)", "np.inf + x @ w_q", "(x @ w_q)[0]", "(x @ w_q)[..., :2]"])
def test_nan_inf_and_wrong_shape_differ(made, capsys):
    trace = trace_of(OWN)
    said, _ = run(trace, capsys, script=export.script(trace).replace("q = x @ w_q", f"q = {made}"))
    assert said["q"] == "DIFFERS"


@pytest.mark.parametrize("name", ["from another sentence", "two layers"])
def test_shapes_and_axes_are_written(name):
    """Those of one name are of one length, but for what layers have of their own."""
    trace, lengths = PASSES[name], {}
    script, arrays = export.script(trace), written(trace)
    said = re.findall(r"^(\w+) = given\[.+\]  # \((.+)\): (.+)$", script, re.MULTILINE)
    said += [
        (stage, shape, axes)
        for shape, axes, stage in re.findall(r"^# .+, \((.+)\): (.+)\n(?:.*\n)*?(\w+) = compared", script, re.MULTILINE)
    ]
    assert {stage for stage, *_ in said} == {stage.name for stage in trace.stages}
    for stage, shape, axes in said:
        shape = tuple(int(length) for length in shape.split(",") if length)
        assert shape == arrays[stage].shape, stage
        for axis, length in zip(axes.split(", "), shape, strict=True):
            assert lengths.setdefault(axis, length) == length, (stage, axis)
    numbers = {axis: lengths[axis] for axis in ("query", "key", "d_model") if axis in lengths}
    assert (
        numbers
        == {
            "from another sentence": {"query": 2, "key": 3, "d_model": 6},
            "two layers": {"query": 5, "key": 5, "d_model": 4},
        }[name]
    )


def test_arrays_hold_the_words():
    arrays = np.load(io.BytesIO(export.arrays(PASSES["from another sentence"])))
    assert arrays["words_query"].tolist() == ["one", "two"]
    assert arrays["words_key"].tolist() == ["drei", "vier", "fünf"]
    arrays = np.load(io.BytesIO(export.arrays(LABELLED)))
    assert {each for each in arrays if each.startswith("words")} >= {"words_query", "words_query_1", "words_key_4"}


TORCH_PASSES = passes()


@pytest.mark.parametrize("name", TORCH_PASSES)
def test_torch_script_is_the_recorded_one(name):
    recorded = json.loads(RECORDED.read_text("utf-8"))
    record = recorded["runs"][name]
    assert torch_script(TORCH_PASSES[name]) == record["script"], "record it again: tests/explain/torchruns.py says how"
    names = [stage.name for stage in TORCH_PASSES[name].stages if stage.name.startswith(("attention", "output"))]
    assert record["printed"].splitlines() == [f"{each}: PyTorch {recorded['torch']} agrees" for each in names]


@pytest.mark.parametrize("name", TORCH_PASSES)
def test_torch_script_runs(name):
    pytest.importorskip("torch")
    assert run_torch(TORCH_PASSES[name], torch_script(TORCH_PASSES[name])).count("agrees") >= 2


def test_torch_script_finds_a_wrong_array():
    pytest.importorskip("torch")
    trace = TORCH_PASSES["causal"]
    wrong = trace.with_change("attention", (0, 2, 1), trace["attention"].value[0, 2, 1] + 1e-6)
    with pytest.raises(AssertionError):
        run_torch(wrong, torch_script(trace))


@pytest.mark.parametrize(
    "trace",
    [
        attend(np.eye(2), parameters=Parameters()),
        attend(np.eye(2), parameters=Parameters(*np.ones((3, 1, 2, 2)), np.ones((2, 3)))),
        attend(np.eye(2), parameters=Parameters(*np.ones((3, 1, 2, 3)), np.ones((3, 2)))),
        attend(np.eye(2), parameters=Parameters(*np.ones((3, 1, 2, 2)), np.eye(2)), normalise=SumNormalise),
        trace_of(Settings("a b")).with_changes(*changes_of("scores[0,0,0]=1")),
    ],
)
def test_no_torch_script_for_other_passes(trace):
    assert torch_script(trace) is None


class Capped(Scale):
    """A step between scores and softmax that MultiheadAttention lacks."""

    in_multihead = False

    def compute(self, scores):
        return np.tanh(super().compute(scores))


def test_torch_layers_read_their_own_mask():
    script = torch_script(trace_of(Settings("the cat", layers=2, norm="rmsnorm", mask="causal")))
    read = re.findall(r'tensor\("((?:mask|attn_norm)\w*)"\)', script)
    assert read == ["mask_1", "attn_norm_1", "attn_norm_1", "mask_2", "attn_norm_2", "attn_norm_2"]


def test_no_torch_script_for_other_steps():
    trace = trace_of(Settings("a b c", n_heads=2))
    assert torch_script(trace)
    assert torch_script(planted(trace, "scaled", Capped(trace["q"].shape[-1]))) is None


@pytest.mark.parametrize(
    ("stage", "operation"),
    [("scaled", Scale(4, 1.0)), ("attn_norm", RMSNorm(0.1)), ("active", GELU()), ("attention", SumNormalise())],
)
def test_no_microgpt_script_for_other_passes(stage, operation):
    trace = MODELS["microgpt"].at(0).trace("ada")
    assert pass_as_microgpt.script(trace)
    assert pass_as_microgpt.script(planted(trace, stage, operation)) is None
    assert pass_as_microgpt.script(trace.with_change("mask", (0, 1), 1.0)) is None
    assert pass_as_microgpt.script(trace.with_change("scores", (0, 1, 1), 1.0)) is None


def test_no_microgpt_script_for_an_encoder_and_a_decoder():
    """Not even where each layer is one of microgpt's, but for the text that its keys are made from."""
    draw = np.random.default_rng(16).standard_normal
    shapes = {"w_o": (4, 4), "w_hidden": (4, 8), "w_mlp": (8, 4)} | {f"w_{each}": (2, 4, 2) for each in "qkv"}
    block = Parameters(**{name: draw(shape) for name, shape in shapes.items()})
    entering = input_stages((draw((3, 4)), "drawn"), (draw((3, 4)), "by place"), norm=RMSNorm())
    given = {"norm": RMSNorm(), "w_u": draw((4, 3))}
    two = attend_seq2seq(draw((5, 4)), entering["x"].value, encoder=[block], decoder=[(block, block)], **given)
    one = attend(entering["x"].value, parameters=block, residual=True, mask=np.tri(3, dtype=bool), **given)
    for trace, names in ((one, "wte[token_id]"), (two, None)):
        words = {
            "token": ["a", "b", "c"],
            "answer": ["a", "b", "c"],
            **({"token_1": [*"defgh"]} if names is None else {}),
        }
        named = trace.with_first_stages(entering.values()).labelled(**words).with_origin(Origin(rows=(0, 1, 2)))
        assert pass_as_microgpt.names_in_microgpt(named).get("embeddings") == names
        assert (pass_as_microgpt.script(named) is None) == (names is None)
