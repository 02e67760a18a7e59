"""Hearing: operands of products, softmaxes and fused attention, without changing or breaking the module that runs."""

import fakedispatch
import numpy as np
import pytest
from fakedispatch import fake_softmax, fused, matmul, mm, mul
from fakemodules import Attention, Module, Norm, tensor, turned

from attnviz import OwnArraysError, compare, record
from attnviz.checks.recording.dispatch import DispatchLog

X = tensor(np.random.default_rng(5).normal(size=(2, 5, 6)))
WHOLE = ["q", "k", "v", "masked", "attention", "concat", "output"]
UNHEARD = ["q", "k", "v", "concat", "output"]


@pytest.fixture(autouse=True)
def torch(monkeypatch):
    fakedispatch.pretend(monkeypatch)
    yield
    assert fakedispatch.MODES == []


def keys(rows):
    return np.swapaxes(rows, -1, -2)


class Heads(Attention):
    """Attention without a mask that returns its output alone."""

    def heads(self, q, k, v):
        return matmul(fake_softmax(mul(matmul(q, keys(k)), 3**-0.5), -1), v)

    def forward(self, x):
        sentences, tokens, _ = x.shape
        q, k, v = (np.swapaxes(rows.reshape(sentences, tokens, 2, 3), 1, 2) for rows in self.projected(x))
        return self.out_proj(np.swapaxes(self.heads(q, k, v), 1, 2).reshape(x.shape))


class Folded(Heads):
    """The scale is in the queries, and heads are on the axis of sentences."""

    def heads(self, q, k, v):
        q, k, v = (each.reshape(-1, 5, 3) for each in (mul(q, 3**-0.5), k, v))
        return matmul(fake_softmax(matmul(q, keys(k)), -1), v).reshape(2, 2, 5, 3)


class ByHeads(Heads):
    """Heads come one after the other."""

    def heads(self, q, k, v):
        pairs = (super(ByHeads, self).heads(q[:, each], k[:, each], v[:, each]) for each in range(2))
        return tensor(np.stack([*pairs], axis=1))


class Causal(Heads):
    def heads(self, q, k, v):
        hidden = tensor(np.where(np.tri(5) > 0, 0, -np.inf))
        return matmul(fake_softmax(mul(matmul(q, keys(k)), 3**-0.5) + hidden, -1), v)


class Fused(Heads):
    def heads(self, q, k, v):
        return fused(q, k, v, 0.0, True)


class Dropped(Heads):
    """Attention loses some weights after the softmax."""

    def heads(self, q, k, v):
        weights = fake_softmax(mul(matmul(q, keys(k)), 3**-0.5), -1)
        kept = np.random.default_rng(3).random(weights.shape) > 0.5
        return matmul(weights * kept * 2, v)


class Shifted(Heads):
    """The largest score is subtracted before the softmax, which changes no weight."""

    def heads(self, q, k, v):
        scores = mul(matmul(q, keys(k)), 3**-0.5)
        return matmul(fake_softmax(scores - scores.max(axis=-1, keepdims=True), -1), v)


class NoSoftmax(Heads):
    def heads(self, q, k, v):
        return matmul(matmul(q, keys(k)), v)


class Failing(Heads):
    error: type[BaseException] = ZeroDivisionError

    def heads(self, q, k, v):
        raise self.error("theirs")


VARIANTS = {Heads: WHOLE, Folded: WHOLE, ByHeads: WHOLE, Causal: WHOLE, Fused: UNHEARD}
VARIANTS |= {Shifted: [each for each in WHOLE if each != "masked"]}


@pytest.mark.parametrize("kind", VARIANTS)
@pytest.mark.parametrize("sentence", [0, 1])
def test_all_that_is_heard_agrees_and_outputs_stay(kind, sentence):
    model = kind()
    before = model(X)
    with record(model, sentence=sentence) as recorded:
        np.testing.assert_array_equal(model(X), before)
        assert fakedispatch.MODES == []  # between calls
    found = compare(None, recorded[0])
    assert found.first is None, str(found)
    assert [each.stage for each in found.stages] == VARIANTS[kind]
    assert ("computes them in one kernel" in str(recorded)) == (kind is Fused)


class AlongBatch(Heads):
    def heads(self, q, k, v):
        q, k, v = (tensor(np.transpose(each, (2, 1, 0, 3))) for each in (q, k, v))
        return np.transpose(super().heads(q, k, v), (2, 1, 0, 3))


@pytest.mark.parametrize("kind", [Heads, AlongBatch])
def test_attention_along_the_batch_is_noted(kind):
    with record(model := kind()) as recorded:
        model(X)
    assert ("over the 2 sentences of the batch, not over the 5 tokens" in str(recorded)) == (kind is not Heads)


def test_mistakes_after_the_softmax_are_heard():
    model = Dropped()
    with record(model) as recorded:
        model(X)
    found = compare(None, recorded[0])
    assert [each.id for each in found.causes] == ["dropout left on"]
    assert found.explained


def test_a_module_without_a_softmax_is_recorded_as_before():
    model = NoSoftmax()
    with record(model) as recorded:
        model(X)
    assert recorded[0].keys().isdisjoint({"attention", "masked", "q_rotated"})
    assert "no softmax ran outside of compiled code" in recorded.notes[""]


class Turned(Heads):
    """Queries and keys are turned, of which earlier ones are kept with their values."""

    def __init__(self, n_kept, length=None):
        super().__init__()
        self.n_kept, self.length = n_kept, length

    def forward(self, x, mask=None):
        self.mask = mask
        return super().forward(x)

    def heads(self, q, k, v):
        rng = np.random.default_rng(2)
        q, k = (np.concatenate([turned(each[..., :2]), each[..., 2:]], axis=-1) for each in (q, k))
        self.kept = tuple(tensor(rng.normal(size=(2, 2, self.n_kept, 3))) for _ in "kv")
        k, v = (np.concatenate([kept, each], axis=2) for kept, each in zip(self.kept, (k, v), strict=True))
        unused = np.zeros((2, 2, (self.length or k.shape[2]) - k.shape[2], 3))
        k, v = (tensor(np.concatenate([each, unused], axis=2)) for each in (k, v))
        hidden = np.arange(k.shape[2]) > self.n_kept + np.arange(q.shape[2])[:, None]
        assert self.mask is None or self.mask.shape[-1] == k.shape[2]
        scores = mul(matmul(tensor(q), keys(k)), 3**-0.5)
        self.rotated = q, k
        return matmul(fake_softmax(tensor(np.where(hidden, -np.inf, scores)), -1), v)


@pytest.mark.parametrize("length", [None, 12])
def test_rotated_rows_are_those_of_new_tokens_and_kept_ones_stand_alone(length):
    model = Turned(n_kept=4, length=length)
    with record(model, sentence=1) as recorded:
        model(X, mask=tensor(np.ones((2, 1, 5, length or 9))))
    arrays = recorded[0]
    assert arrays["mask"].shape == (1, 5, 9)
    np.testing.assert_array_equal(arrays["past_key"], model.kept[0][1])
    np.testing.assert_array_equal(arrays["past_value"], model.kept[1][1])
    np.testing.assert_array_equal(arrays["q_rotated"], model.rotated[0][1])
    np.testing.assert_array_equal(arrays["k_rotated"], model.rotated[1][1, :, 4:9])
    assert arrays["attention"].shape == arrays["masked"].shape == (2, 5, 9)
    assert arrays["k"].shape == arrays["v"].shape == (2, 5, 3)


class Appends(Heads):
    """A key that no token has follows the others, with a value."""

    key = 0.0

    def heads(self, q, k, v):
        k, v = (tensor(np.pad(each, ((0, 0), (0, 0), (0, 1), (0, 0)), constant_values=self.key)) for each in (k, v))
        return super().heads(q, k, v)


@pytest.mark.parametrize("key", [0.0, 0.5])
def test_an_appended_key_is_no_kept_one(key):
    model = Appends()
    model.key = key
    with record(model) as recorded:
        model(X)
    assert recorded[0].keys().isdisjoint({"past_key", "past_value", "k_rotated"})
    assert recorded[0]["attention"].shape == (2, 5, 6)
    if key == 0:
        assert compare(None, recorded[0]).first is None


class OfTorch(Appends):
    """Attention as PyTorch's own module, whose keys attnviz can't make of the tokens."""


OfTorch.__module__ = "torch.nn.fake"


@pytest.mark.parametrize("key", [0.0, 0.5])
def test_keys_that_no_token_has_are_taken_as_heard(key):
    model = OfTorch()
    model.key = key
    with record(model) as recorded:
        model(X)
    found = compare(None, recorded[0])
    assert found.first is None, str(found)
    assert [each.stage for each in found.stages] == ["attention", "concat", "output"]
    assert "no token has" in recorded.notes[""]


@pytest.mark.parametrize("name", ["", "in_proj_weight"])
def test_a_causal_flag_becomes_a_mask_that_is_read_in_one_way(name):
    model = Fused()
    if name:
        model.in_proj_weight = tensor(np.zeros((18, 6)))
        del model.W_query, model.W_key, model.W_value
        model.projected = lambda x: np.split(x @ np.ones((6, 18)), 3, axis=-1)
    with record(model) as recorded:
        model(X)
    mask = recorded[0]["attn_mask"]
    np.testing.assert_array_equal(mask, np.where(np.tri(5), 0, -np.inf) if name else np.tri(5, dtype=bool))
    assert (mask.dtype == bool) == (not name)


class Normed(Heads):
    """Each head of queries and keys has an RMSNorm, and nothing is rotated."""

    def __init__(self):
        super().__init__()
        self.q_norm, self.k_norm = Norm(3, 5), Norm(3, 6)

    def heads(self, q, k, v):
        return super().heads(tensor(self.q_norm(q)), tensor(self.k_norm(k)), v)


def test_rows_normed_by_hand_are_not_called_rotated():
    with record(model := Normed()) as recorded:
        model(X)
    found = compare(None, recorded[0])
    assert found.first is None, str(found)
    assert {"q_normed", "k_normed"} <= {each.stage for each in found.stages}
    assert recorded[0].keys().isdisjoint({"q_rotated", "k_rotated"})


def test_rows_that_are_not_rotated_stand_once():
    with record(model := Heads()) as recorded:
        model(X)
    assert recorded[0].keys().isdisjoint({"q_rotated", "k_rotated", "past_key", "past_value"})


class Gain(Module):
    def __init__(self, gain):
        super().__init__()
        self.weight = tensor(gain)


class NormedByHand(Heads):
    """Queries and keys are normed, each head's alone or all together, and perhaps turned."""

    def __init__(self, is_together, turns, epsilon):
        super().__init__()
        self.is_together, self.turns, self.epsilon = is_together, turns, epsilon
        self.q_norm, self.k_norm = Gain([0.5, 2.0, 1.0]), Gain([1.5, 0.8, -1.0])

    def heads(self, q, k, v):
        axes = (1, -1) if self.is_together else -1
        q, k = (
            each / np.sqrt((each**2).mean(axis=axes, keepdims=True) + self.epsilon) * norm.weight
            for each, norm in ((q, self.q_norm), (k, self.k_norm))
        )
        if self.turns:
            q, k = (np.concatenate([turned(each[..., :2]), each[..., 2:]], axis=-1) for each in (q, k))
        return super().heads(tensor(q), tensor(k), v)


@pytest.mark.parametrize("epsilon", [1e-5, 1e-6, np.finfo(np.float32).eps])
@pytest.mark.parametrize("turns", [False, True])
@pytest.mark.parametrize("is_together", [False, True])
def test_rows_normed_by_hand_are_not_taken_for_rotated_ones(is_together, turns, epsilon):
    with record(model := NormedByHand(is_together, turns, epsilon)) as recorded:
        model(X)
    entering = {name for name in recorded[0] if name.endswith(("_normed", "_rotated"))}
    assert entering == ({"q_rotated", "k_rotated"} if turns else {"q_normed", "k_normed"})
    if not turns:
        found = compare(None, recorded[0])
        assert [each.stage for each in found.causes] == ["q_normed"] * is_together, str(found)


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_errors_of_the_model_leave_no_mode_behind(error):
    model = Failing()
    model.error = error
    with pytest.raises(error, match="theirs"), record(model):
        model(X)
    assert not model.before | model.after | model.always


@pytest.mark.parametrize("part", ["operation", "joined"])
def test_an_error_while_hearing_loses_what_would_be_heard_alone(part, monkeypatch):
    def fails(*args):
        raise ValueError

    monkeypatch.setattr(DispatchLog, part, fails)
    model = Heads()
    before = model(X)
    with record(model) as recorded:
        np.testing.assert_array_equal(model(X), before)
    assert compare(None, recorded[0]).first is None
    assert "attention" not in recorded[0]


def test_projections_are_no_scores():
    heard = DispatchLog(0, 1, 5, [weight := tensor(np.ones((6, 5)))])
    heard.operation("mm", {"self": X[0], "mat2": weight}, mm(X[0], weight))
    assert heard._products == []
    with pytest.raises(OwnArraysError, match="was not called inside the with block"), record(Heads()) as recorded:
        recorded[0]


def test_scores_of_several_products_have_no_one_query():
    rng = np.random.default_rng(4)
    heard = DispatchLog(1, 2, 5)
    q, k, v = rng.normal(size=(3, 4, 5, 3))
    for _ in range(2):
        heard.operation("bmm", {"self": q, "mat2": keys(k)}, None)
    scores = (q @ keys(k)).reshape(2, 2, 5, 5)
    heard.operation("_softmax", {"self": scores}, weights := np.exp(scores))
    heard.operation("bmm", {"self": weights.reshape(4, 5, 5), "mat2": v}, None)
    operands = heard.joined()
    assert operands.keys() == {"masked", "attention", "v"}
    np.testing.assert_array_equal(operands["masked"], scores[1])
    np.testing.assert_array_equal(operands["v"], v[2:])


class Placed(Heads):
    """Queries and keys are turned in pairs of neighbours; or the tables that it is called with are ignored."""

    turns = True

    def forward(self, x, **positions):
        return super().forward(x)

    def heads(self, q, k, v):
        if self.turns:
            q, k = (tensor(np.concatenate([turned(each[..., :2]), each[..., 2:]], axis=-1)) for each in (q, k))
        return super().heads(q, k, v)


class Known(Placed):
    __module__ = "transformers.models.gptj.fake"
    scaling, attn_logit_softcapping = 0.5, 20.0


ANGLES = np.outer(np.arange(5), [1.0, 0.01])
COS, SIN, BOTH = tensor(np.cos(ANGLES)), tensor(np.sin(ANGLES)), np.stack([ANGLES, ANGLES + 1])
PLACES = tensor(np.stack([np.arange(5), np.arange(5) + 3]))


class Complex(type(COS)):
    """A table of complex numbers."""

    def is_complex(self):
        return True


class Angles(type(COS)):
    """A table of angles."""

    def cos(self):
        return tensor(np.cos(self))

    def sin(self):
        return tensor(np.sin(self))


@pytest.mark.parametrize(
    "positions",
    [
        {"position_embeddings": (COS, SIN)},
        {"position_embeddings": (tensor(np.cos(BOTH - 1)), tensor(np.sin(BOTH - 1)))},
        {"rotary_pos_emb": (COS[None, None], SIN[None, None])},
        {"rotary_pos_emb": ANGLES.view(Angles)},
        {"freqs_cis": np.exp(1j * ANGLES).view(Complex)},
        {"cos": COS[:, None], "sin": SIN[:, None], "position_ids": PLACES},
        {"cos": COS, "sin": SIN, "position_ids": PLACES[1]},
    ],
)
def test_tables_that_rotate_are_recorded_by_the_sentence(positions):
    with record(model := Placed(), sentence=1) as recorded:
        model(X, **positions)
    np.testing.assert_allclose(recorded[0]["cos"], COS, atol=1e-15)
    np.testing.assert_allclose(recorded[0]["sin"], SIN, atol=1e-15)
    if "position_ids" in positions:
        np.testing.assert_array_equal(recorded[0]["position_ids"], [3, 4, 5, 6, 7])


@pytest.mark.parametrize(
    ("kind", "turns", "names"),
    [
        (Placed, True, {"cos", "sin", "position_ids"}),
        (Placed, False, {"cos", "sin", "position_ids"}),  # perhaps by a mistake
        (Known, True, {"cos", "sin", "position_ids", "scale", "softcap"}),
        (Known, False, {"scale", "softcap"}),
    ],
)
def test_tables_that_a_library_gives_to_layers_without_rotation_are_not_kept(kind, turns, names):
    model = kind()
    model.turns = turns
    with record(model) as recorded:
        model(X, position_embeddings=(SIN, COS), position_ids=PLACES)
    if "cos" in names:
        np.testing.assert_array_equal(recorded[0]["cos" if kind is Known else "sin"], COS)
    assert recorded[0].keys() & {"cos", "sin", "position_ids", "scale", "softcap"} == names
    with record(model) as recorded:
        model(X, position_ids=PLACES)
    assert ("position_ids" in recorded[0]) == turns


def test_heads_may_come_before_sentences_and_a_factor_is_taken_out():
    rng = np.random.default_rng(4)
    q, k, v = rng.normal(size=(3, 6, 5, 3))  # two heads of three sentences
    heard = DispatchLog(1, 3, 5)
    heard.operation("mul", {"self": q, "other": 0.3}, scaled := q * 0.3)
    heard.operation("bmm", {"self": scaled, "mat2": keys(k)}, None)
    scores = (scaled @ keys(k)).reshape(2, 3, 5, 5)
    heard.operation("_softmax", {"self": scores}, weights := np.exp(scores))
    heard.operation("bmm", {"self": weights.reshape(6, 5, 5), "mat2": v}, None)
    operands = heard.joined()
    np.testing.assert_allclose(operands["q"], q[1::3], rtol=1e-12)
    np.testing.assert_array_equal(operands["k"], k[1::3])
    np.testing.assert_array_equal(operands["masked"], scores[:, 1])
