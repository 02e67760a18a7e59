"""Recording: hooks record a module's attention, layer by layer, and `compare` reads the recorded arrays."""

from functools import partial

import lenscaches
import numpy as np
import pytest
from fakemodules import (
    AddsToResidual,
    Attention,
    BiasedByPosition,
    DividesBias,
    LatentAttention,
    LatentHeads,
    Linear,
    Model,
    Norm,
    NormsAllHeads,
    NormsEachHead,
    NormsOutput,
    tensor,
)
from implementations import softmax
from torchmodules import CASES, RECORDED, record_case

from attnviz import OwnArraysError, Parameters, Recorded, Settings, attend, compare, record, show, trace_of
from attnviz.checks.recording.heads import heads_of
from attnviz.checks.recording.recorded import Call

X = tensor(np.random.default_rng(5).normal(size=(2, 5, 6)))
REAL = np.load(RECORDED)


def recorded_from(model, **arguments):
    with record(model, **arguments) as recorded:
        model(X)
    return recorded


def test_each_layer_is_recorded_under_names_that_compare_reads():
    recorded = recorded_from(Model(Attention(), Attention(seed=7)))
    assert recorded.paths == ("layers.0", "layers.1")
    assert len(recorded) == 2
    for arrays in recorded:
        assert {"x", "q", "k", "v", "attention", "concat", "output"} < set(arrays)
        found = compare(None, arrays)
        assert found.first is None, str(found)
        assert [each.stage for each in found.stages] == ["q", "k", "v", "attention", "concat", "output"]
    np.testing.assert_array_equal(recorded[0]["x"], X[0])
    np.testing.assert_array_equal(recorded[-1]["layers.1.W_query.weight"], recorded[1]["layers.1.W_query.weight"])


class CutByView(Attention):
    """Attention whose heads are split and joined by `view` alone."""

    def forward(self, x):
        sentences, tokens, _ = x.shape
        q, k, v = (rows.reshape(sentences, self.num_heads, tokens, -1) for rows in self.projected(x))
        attention = self.shares(q @ np.swapaxes(k, 2, 3) * self.scale)
        return self.out_proj((attention @ v).reshape(x.shape)), tensor(attention)


def test_heads_split_without_transposing_are_named():
    found = compare(None, recorded_from(CutByView())[0])
    assert found.first.stage == "attention"
    assert "Q, K and V were cut into heads without transposing, and joined so, too" in str(found)
    assert found.explained


def test_any_sentence_of_a_batch_is_recorded():
    other = recorded_from(Attention(), sentence=1)[0]
    np.testing.assert_array_equal(other["x"], X[1])
    assert compare(None, other).first is None
    with pytest.raises(OwnArraysError, match="sentence must be one of 2, from 0 on; got 2"):
        recorded_from(Attention(), sentence=2)


class TakesMask(Attention):
    def forward(self, x, attention_mask):
        return super().forward(x)


def test_the_mask_of_the_sentence_is_recorded():
    model, mask = TakesMask(), tensor(np.random.default_rng(9).random((2, 1, 5, 5)))
    for sentence in (0, 1):
        with record(model, sentence=sentence) as recorded:
            model(X, mask)
        np.testing.assert_array_equal(recorded[0]["attention_mask"], mask[sentence])


class TakesBias(Attention):
    def bias(self, tokens):
        return self.added

    def forward(self, x, rel_pos=None, position_bias=None):
        self.added = rel_pos if position_bias is None else position_bias
        self.added = self.added.reshape(-1, self.n_heads, *self.added.shape[-2:]) if self.n_heads else self.added
        return super().forward(x)


@pytest.mark.parametrize("shape", [(2, 2, 5, 5), (2, 5, 5), (4, 5, 5), (2, 1, 5)])
@pytest.mark.parametrize("name", ["rel_pos", "position_bias"])
def test_what_a_module_is_called_with_and_adds_to_scores_is_recorded(name, shape):
    model = TakesBias()
    model.n_heads = 0 if len(shape) == 4 else 2
    with record(model, sentence=1) as recorded:
        model(X, **{name: tensor(np.random.default_rng(9).normal(size=shape))})
    found = compare(None, recorded[0])
    assert found.first is None, str(found)


@pytest.mark.parametrize("hook", ["begin", "project", "end"])
def test_an_error_in_a_hook_neither_stops_the_model_nor_other_recordings(hook, monkeypatch):
    model, before = Model(Attention(), Attention(seed=7), LatentAttention()), Call.__dict__[hook]
    expected = model(X)

    def fails(self, *args):
        if self._attention.path == "layers.1":
            raise RuntimeError("NestedTensorImpl doesn't support\nsizes")
        return before(self, *args)

    monkeypatch.setattr(Call, hook, fails)
    outputs, forward = [], model.forward
    model.forward = lambda x: outputs.append(forward(x)) or outputs[-1]
    with pytest.warns(UserWarning, match=r"1 of 2 modules .* could not be read\. layers\.1: RuntimeError: Nested"):
        recorded = recorded_from(model)
    np.testing.assert_array_equal(outputs, [expected])
    assert compare(None, recorded[0]).first is None
    with pytest.raises(OwnArraysError, match=r"layers\.1 could not be read\. RuntimeError: NestedTensorImpl"):
        recorded[1]
    assert str(recorded).splitlines()[2:4] == [
        "1: layers.1: not read",
        "not read: layers.2: LatentAttention has no projections of known names: kv_b_proj.weight",
    ]
    assert "not read: layers.1: RuntimeError: NestedTensorImpl doesn't support sizes" in str(recorded)


class Nested:
    """PyTorch's nested tensor: sentences of several lengths, without a shape."""

    is_nested, ndim = True, 3

    def __init__(self, rows):
        self.rows = rows

    @property
    def shape(self):
        raise RuntimeError("NestedTensorImpl doesn't support sizes")

    def unbind(self):
        return self.rows

    def detach(self):
        return self


class OfNested(Attention):
    """Attention on a nested tensor without calling its own layers, as PyTorch's fast path."""

    def forward(self, x):
        alike = Attention()
        return Nested([alike(each[np.newaxis])[0][0] for each in x.unbind()]), None


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_sentence_of_a_nested_tensor_is_read_without_padding(sentence):
    model, rows = OfNested(), [X[0, :3], X[1]]
    with record(model, sentence=sentence) as recorded:
        made, _ = model(Nested(rows))
    np.testing.assert_array_equal(recorded[0]["x"], rows[sentence])
    np.testing.assert_array_equal(recorded[0]["output"], made.rows[sentence])
    found = compare(None, recorded[0] | {"mask": np.tri(len(rows[sentence]), dtype=bool)})
    assert [each.stage for each in found.stages] == ["output"]
    assert found.first is None


def test_torchs_encoder_with_padding_is_recorded():
    torch = pytest.importorskip("torch")
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model, x = torch.nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 5, 8)
    padding = torch.tensor([[False] * 3 + [True] * 2, [False] * 5])
    with torch.no_grad():
        expected = model(x, src_key_padding_mask=padding)
        with record(model) as recorded:
            assert torch.equal(model(x, src_key_padding_mask=padding), expected)
    assert [each["x"].shape for each in recorded] == [(3, 8), (3, 8)]
    assert all(compare(None, each).first is None and compare(None, each).stages for each in recorded)


def test_errors_of_the_model_are_raised_and_hooks_removed():
    class Failing(Attention):
        def shares(self, scores):
            raise ZeroDivisionError("theirs")

    model = Failing()
    with pytest.raises(ZeroDivisionError, match="theirs"), record(model):
        model(X)
    assert not any(module.before or module.after for _, module in model.named_modules())


def test_the_report_lists_recorded_and_unread_modules():
    recorded = recorded_from(Model(Attention(), LatentAttention()))
    assert recorded.skipped == {"layers.1": "LatentAttention has no projections of known names: kv_b_proj.weight"}
    assert str(recorded) == (
        "Recorded: 1 of 1 modules of attention\n"
        "0: layers.0: x, q, k, v, concat, output, attention\n"
        "not read: layers.1: LatentAttention has no projections of known names: kv_b_proj.weight"
    )
    with pytest.raises(OwnArraysError, match=r"was found in LatentAttention\. the model: Latent"):
        recorded_from(LatentAttention())
    with pytest.raises(OwnArraysError, match="No module of attention was found in Linear"):
        recorded_from(Linear(2, 2, 0))
    with pytest.raises(OwnArraysError, match="record takes a PyTorch module; got int"):
        recorded_from(3)


VARIANTS = {
    "all heads normed at once": (NormsAllHeads, {}, ["attention", "concat", "output"], "all heads of its queries"),
    "heads normed by LayerNorm": (NormsEachHead, {}, ["attention", "concat", "output"], "or by LayerNorm"),
    "heads normed by gains of their own": (
        partial(NormsEachHead, Norm, (2, 3)),
        {},
        ["attention", "concat", "output"],
        "by LayerNorm",
    ),
    "a bias by position": (BiasedByPosition, {}, ["q", "k", "v", "attention", "concat", "output"], ""),
    "a bias and a residual": (
        AddsToResidual,
        {"residual": X, "alibi": tensor(np.random.default_rng(6).normal(size=(4, 1, 5)))},
        ["q", "k", "v", "attention", "concat", "output"],
        "",
    ),
    "biases that are divided": (
        DividesBias,
        {"residual": X, "alibi": tensor(np.random.default_rng(6).normal(size=(4, 1, 5)))},
        ["q", "k", "v", "attention", "concat", "output"],
        "",
    ),
    "a norm of the output": (NormsOutput, {}, ["q", "k", "v", "attention", "concat", "output"], ""),
    "latents": (LatentHeads, {}, ["attention", "concat", "output"], "come from a latent"),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_position_biases_latents_and_norms_of_all_heads_are_recorded(variant):
    kind, arguments, stages, note = VARIANTS[variant]
    model = kind()
    with record(model, sentence=1) as recorded:
        model(X, **arguments)
    found = compare(None, recorded[0])
    assert found.first is None, str(found)
    assert [each.stage for each in found.stages] == stages
    assert found.unread == ()
    assert note in recorded.notes.get("", "")
    assert (note in str(recorded)) == bool(note or not recorded.notes)
    assert not any(module.before or module.after for _, module in model.named_modules())


def test_the_first_call_is_kept_as_a_copy():
    model = Attention()
    with record(model) as recorded:
        with pytest.raises(OwnArraysError, match="The model was not called inside the with block"):
            recorded[0]
        model(X)
        model(X[:, :1])
    assert recorded[0]["x"].shape == (5, 6)
    with pytest.raises(IndexError, match="1 modules of attention were found, 0 to 0; got 1"):
        recorded[1]
    before = recorded[0]["W_query.weight"].copy()
    model.W_query.weight[...] = 0
    np.testing.assert_array_equal(recorded[0]["W_query.weight"], before)


def test_a_recorded_layer_is_shown_with_its_words():
    recorded = recorded_from(Model(Attention(), Attention(scale=1.0)), tokens=["the", "cat", "sat", "on", "it"])
    assert show(recorded).title == "the cat sat on it"
    with pytest.raises(OwnArraysError, match=r"layer 1 of the recorded ones isn't\. Q, K and V agree"):
        show(recorded, layer=1)
    with pytest.raises(OwnArraysError, match="tokens must be the 5 words of the recorded sentence; got 2"):
        show(recorded_from(Attention(), tokens=["a", "b"]))


def test_a_layers_arrays_have_its_words():
    recorded = recorded_from(Model(Attention(), Attention(seed=7)), tokens=["the", "cat", "sat", "on", "it"])
    for arrays in recorded:
        assert compare(None, arrays).trace.labels["key"] == ("the", "cat", "sat", "on", "it")
    with pytest.raises(OwnArraysError, match=r"context_tokens must be a sequence of words; got text\. Write"):
        recorded_from(Attention(), tokens=["a"], context_tokens="le chat")


class TwoInputs(Attention):
    """Attention whose keys are projected from other rows, perhaps equal ones."""

    def __init__(self, rows):
        super().__init__()
        self.rows = rows

    def projected(self, x):
        return self.W_query(x), self.W_key(self.rows), self.W_value(self.rows)


@pytest.mark.parametrize("is_other", [False, True])
def test_keys_have_the_queries_words_only_if_both_have_one_input(is_other):
    recorded = recorded_from(TwoInputs(X[::-1] if is_other else tensor(X.copy())), tokens=["a", "b", "c", "d", "e"])
    assert ("context" in recorded[0]) == is_other
    found = compare(None, recorded[0])
    assert found.first is None, str(found)
    assert found.trace.labels["key"] == (tuple("12345") if is_other else tuple("abcde"))


HALVES = "rotated by your cos and sin, in halves"
NEIGHBOURS = "rotated by your cos and sin, in pairs of neighbours, the first 4 of 12 dimensions"
SAYS = {
    "t5": "Scores are multiplied by 1, your scale.",
    "gemma3_text": "Scores are multiplied by 0.0625, your scale.\nTo your gains 1 was added, as Gemma does.",
    "gpt_neox": "in halves, the first 2 of 4 dimensions",
    **dict.fromkeys(("deepseek_v3", "deepseek_v3, yarn", "deepseek_v3, step"), NEIGHBOURS),
    **dict.fromkeys(("gpt_oss", "gpt_oss, step", "qwen2, yarn", "llama, linear", "llama, llama3"), HALVES),
}


@pytest.mark.parametrize("name", CASES)
def test_recorded_modules_of_torch_and_transformers_agree(name):
    """Recorded by `tests/torchmodules.py`, with the versions in `about`."""
    arrays = {each.removeprefix(f"{name}/"): REAL[each] for each in REAL.files if each.startswith(f"{name}/")}
    found = compare(None, arrays)
    assert found.first is None, str(found)
    assert {each.stage for each in found.stages} >= CASES[name].stages
    assert found.unread == ()
    assert SAYS.get(name, "") in str(found)


def test_biases_beside_the_lowest_number_allow_no_larger_differences():
    rng = np.random.default_rng(1)
    q, bias, wrong = (rng.normal(size=shape).astype(np.float32) for shape in ((1, 5, 6), (5, 5), (5, 5)))
    mask = np.where(np.tri(5) > 0, bias, np.finfo(np.float32).min)
    masked = q @ q.swapaxes(1, 2) / np.sqrt(np.float32(6)) + mask
    found = compare(
        None, {"q": q, "k": q, "v": q, "mask": mask, "masked": np.where(mask < -1e38, masked, masked + wrong)}
    )
    assert found.first.stage == "masked"
    assert found.first.rounding < 1e-5


def test_a_scale_is_a_number_above_0():
    arrays = {"q": X[0], "k": X[0], "v": X[0]}
    shares = compare(None, {**arrays, "scale": 2.0}).trace["attention"].value
    np.testing.assert_allclose(shares[0], softmax(2 * X[0] @ X[0].T), rtol=1e-10)
    with pytest.raises(OwnArraysError, match="what scores are multiplied by, a number above 0; got 0"):
        compare(None, {**arrays, "scale": 0})


@pytest.mark.parametrize("name", CASES)
def test_torch_records_the_stored_arrays_again(name):
    pytest.importorskip("torch")
    if CASES[name].configuration:
        pytest.importorskip("transformers")
    recorded = record_case(name)
    assert {f"{name}/{each}" for each in recorded} == {each for each in REAL.files if each.startswith(f"{name}/")}
    for each, array in recorded.items():
        np.testing.assert_allclose(array, REAL[f"{name}/{each}"], rtol=0, atol=1e-5)


def cached(n_layers=2, n_sentences=2):
    """A cache as TransformerLens keeps it, and the model's parameters, of two heads of three dimensions."""
    rng = np.random.default_rng(3)
    cache, parameters = {}, {"embed.W_E": rng.normal(size=(9, 6))}
    for layer in range(n_layers):
        w = {each: rng.normal(size=(2, 6, 3)) for each in "QKV"} | {"O": rng.normal(size=(2, 3, 6))}
        x = rng.normal(size=(n_sentences, 5, 6))
        q, k, v = (np.einsum("bte,hed->bthd", x, w[each]) for each in "QKV")
        scores = np.where(np.tri(5, dtype=bool), np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(3), -np.inf)
        pattern = softmax(scores)
        z = np.einsum("bhqk,bkhd->bqhd", pattern, v)
        hooks = {"q": q, "k": k, "v": v, "attn_scores": scores, "pattern": pattern, "z": z}
        cache |= {f"blocks.{layer}.attn.hook_{name}": tensor(value) for name, value in hooks.items()}
        cache |= {
            f"blocks.{layer}.ln1.hook_normalized": tensor(x),
            f"blocks.{layer}.ln1.hook_scale": tensor(np.ones((n_sentences, 5, 1))),
            f"blocks.{layer}.hook_attn_out": tensor(np.einsum("bqhd,hde->bqe", z, w["O"])),
        }
        parameters |= {f"blocks.{layer}.attn.W_{name}": tensor(value) for name, value in w.items()}
    return cache, parameters


@pytest.mark.parametrize("sentence", [0, 1])
def test_a_cache_of_transformerlens_is_read_layer_by_layer(sentence):
    cache, parameters = cached()
    recorded = Recorded.of(cache | parameters, sentence=sentence)
    assert recorded.paths == ("blocks.0", "blocks.1")
    for layer, arrays in enumerate(recorded):
        found = compare(None, arrays)
        assert found.first is None, str(found)
        assert [each.stage for each in found.stages] == ["q", "k", "v", "masked", "attention", "heads", "output"]
        x = cache[f"blocks.{layer}.ln1.hook_normalized"]
        np.testing.assert_array_equal(arrays[f"blocks.{layer}.ln1.hook_normalized"], x[sentence])
    with pytest.raises(OwnArraysError, match=r"one of the 2 in blocks\.0\.attn\.hook_q, from 0 on; got 2"):
        Recorded.of(cache, sentence=2)


@pytest.mark.parametrize("case", lenscaches.CASES)
def test_recorded_caches_of_transformerlens_agree(case):
    recorded = Recorded.of(lenscaches.recorded(case), sentence=1)
    assert recorded.paths == ("blocks.0", "blocks.1")
    for arrays in recorded:
        found = compare(None, arrays)
        assert found.first is None, str(found)
        assert len(found.stages) == (9 if case == "rotary" else 7)
        assert ("RoPE, in halves, base 10,000" in str(found)) == (case == "rotary")


def test_a_mistake_in_one_layer_of_a_cache_is_named():
    cache, parameters = cached()
    scores = cache["blocks.1.attn.hook_attn_scores"] * np.sqrt(3)
    unscaled = softmax(scores)
    wrong = cache | {"blocks.1.attn.hook_attn_scores": scores, "blocks.1.attn.hook_pattern": tensor(unscaled)}
    for name in ("hook_z", "hook_attn_out"):
        wrong = {key: value for key, value in wrong.items() if not key.endswith(name)}
    recorded = Recorded.of(wrong | parameters)
    assert compare(None, recorded[0]).first is None
    assert "The scores were not divided by √d_k" in str(compare(None, recorded[1]))


def test_the_attentions_of_a_model_are_one_layer_each():
    cache, _ = cached()
    attentions = tuple(cache[f"blocks.{layer}.attn.hook_pattern"] for layer in range(2))
    returned = {"logits": tensor(np.ones((2, 5, 9))), "hidden_states": (X, X, X), "attentions": attentions}
    recorded = Recorded.of(returned, sentence=1)
    assert recorded.paths == ("attentions.0", "attentions.1")
    np.testing.assert_array_equal(recorded[1]["attentions"], attentions[1][1])
    assert compare(None, recorded[0]).stages == ()
    trace = trace_of(Settings("a b c d e", mask="causal"))
    found = compare(trace, recorded[0])
    assert found.first.stage == "attention"


def test_arrays_without_layers_are_refused():
    with pytest.raises(OwnArraysError, match=r"have names with a number, .*; got q, k\."):
        Recorded.of({"q": X[0], "k": X[0]})
    with pytest.raises(OwnArraysError, match="got none"):
        Recorded.of({})


FIVE = ("the", "cat", "sat", "on", "it")
CACHED, PROJECTED = (np.random.default_rng(seed).normal(size=(2, 5, 3)) for seed in (8, 9))


def with_past(n):
    """What attention computes of the last `n` queries, beside the keys and values of earlier tokens."""
    scores = PROJECTED[:, -n:] @ CACHED.swapaxes(1, 2) / 3**0.5
    attention = softmax(np.where(np.tri(5, dtype=bool)[-n:], scores, -np.inf))
    rows = {"x": X[0, -n:], "q": PROJECTED[:, -n:], "k": CACHED[:, -n:], "v": CACHED[:, -n:]}
    return {**rows, "past_key": CACHED[:, :-n], "past_value": CACHED[:, :-n], "attention": attention}


def layer_of(n_queries, n_keys=None):
    """What attention computes of tokens, and of a context if there are keys."""
    x, context = X[0, :n_queries], X[1, :n_keys]
    made = attend(x, None if n_keys is None else context, parameters=Parameters())
    return {"x": x, "attention": made["attention"].value} | ({} if n_keys is None else {"context": context})


WORDED = {
    "the words of all keys, beside a cache": ({"a": with_past(2)}, FIVE, None, [(FIVE[3:], FIVE)]),
    "the words of one query and all keys": ({"a": with_past(1)}, FIVE, None, [(FIVE[4:], FIVE)]),
    "the words of queries alone": ({"a": with_past(2)}, FIVE[3:], None, [(FIVE[3:], tuple("12345"))]),
    "a context alone": ({"a": layer_of(2, 5)}, None, FIVE, [(tuple("12"), FIVE)]),
    "two texts of one length": (
        {"encoder.0": layer_of(2), "decoder.0.self": layer_of(2), "decoder.0.cross": layer_of(2, 2)},
        ("le", "chat"),
        ("the", "cat"),
        [(("the", "cat"),) * 2, (("le", "chat"),) * 2, (("le", "chat"), ("the", "cat"))],
    ),
    "two texts of one length, and names that don't tell": (
        {"0": layer_of(2), "1": layer_of(2, 2)},
        ("le", "chat"),
        ("the", "cat"),
        [(("1", "2"),) * 2, (("le", "chat"), ("the", "cat"))],
    ),
}


@pytest.mark.parametrize("case", WORDED)
def test_words_reach_every_view(case):
    layers, tokens, context_tokens, expected = WORDED[case]
    recorded = Recorded([*layers], {}, tokens, context_tokens)
    for number, arrays in enumerate(layers.values()):
        recorded.keep(number, {name: np.asarray(each) for name, each in arrays.items()})
    labels = [compare(None, each).trace.labels for each in recorded]
    assert [(each["query"], each["key"]) for each in labels] == expected
    assert [(each.queries, each.keys) for each in heads_of(recorded)] == expected
    shown = [show(recorded, layer=layer) for layer in range(len(recorded))]
    assert {each.title for each in shown} == {" ".join(tokens or context_tokens)}
    for page, words in zip(shown, expected, strict=True):
        assert all(f'"{word}"' in page.html for axis in words for word in axis)


def test_a_pass_without_words_takes_those_of_the_arrays():
    trace, arrays = attend(X[0], parameters=Parameters()), layer_of(5) | {"tokens": np.array(FIVE)}
    assert compare(trace, arrays).trace.labels["key"] == FIVE
    named = trace.labelled(query=tuple("abcde"), key=tuple("abcde"))
    assert compare(named, arrays).trace.labels["key"] == tuple("abcde")
