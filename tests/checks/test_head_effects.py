"""Head effects: each equals what the model computes with that head's part of W_O set to 0."""

import numpy as np
import pytest
from cases import of_each
from fakemodules import Attention, FusedAttention, Linear, Model, Module, causal, tensor

from attnviz import OwnArraysError, head_effects

X = tensor(np.random.default_rng(3).normal(size=(2, 5, 6)))


class Output(Module):
    def __init__(self):
        super().__init__()
        self.dense = Linear(6, 6, 8)

    def forward(self, joined):
        return self.dense(joined)


class Inner(Attention):
    """Attention whose output matrix is another module's."""

    def __init__(self):
        super().__init__()
        del self.out_proj

    def out_proj(self, joined):
        return joined


class OutputOutside(Module):
    """As in BERT: `attention.output.dense` is outside of `attention.self`."""

    def __init__(self):
        super().__init__()
        self.attention = Module()
        self.attention.self, self.attention.output = Inner(), Output()

    def forward(self, x):
        joined, attention = self.attention.self(x)
        return self.attention.output(joined), attention


class WithoutCall(Attention):
    """Attention that reads its output matrix without a call, as `nn.MultiheadAttention`."""

    def __init__(self):
        super().__init__()
        self.out_proj.in_features = 6

    def forward(self, x):
        q, k, v = (np.swapaxes(rows.reshape(2, 5, 2, 3), 1, 2) for rows in self.projected(x))
        attention = causal(q @ np.swapaxes(k, 2, 3) * self.scale)
        return np.swapaxes(attention @ v, 1, 2).reshape(x.shape) @ self.out_proj.weight.T, tensor(attention)


def outputs_of(layer):
    """The layer's output matrix, and whether its columns are inputs."""
    if hasattr(layer, "attention"):
        return layer.attention.output.dense.weight, True
    return (layer.c_proj.weight, False) if hasattr(layer, "c_proj") else (layer.out_proj.weight, True)


@of_each(
    "layer",
    {
        "of its own": Attention,
        "fused": FusedAttention,
        "outside": OutputOutside,
        "without a call": WithoutCall,
    },
)
def test_effect_is_that_of_zeroed_parameters(layer):
    model = Model(layer(), Attention(n_heads=3, scale=2**-0.5, seed=9))
    before = {name: np.array(value) for name, value in model.named_parameters()}
    whole, effects = model(X), head_effects(model, lambda: model(X))
    assert effects.shape == (2, 3)
    assert np.isnan(effects[0, 2])
    for at, head in [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]:
        weight, has_columns = outputs_of(model.layers[at])
        size = 3 if at == 0 else 2
        part = (slice(None), slice(head * size, (head + 1) * size)) if has_columns else slice(head * 3, head * 3 + 3)
        kept = np.array(weight[part])
        weight[part] = 0
        assert effects[at, head] == pytest.approx(np.abs(model(X) - whole).mean(), rel=1e-9)
        weight[part] = kept
    loss = head_effects(model, lambda: model(X), lambda output: (output**2).sum())
    assert loss.shape == effects.shape
    assert np.nanmin(loss) < 0 < np.nanmax(loss), "a loss may fall, too"
    assert all(np.array_equal(value, before[name]) for name, value in model.named_parameters())


def test_model_is_as_before_whatever_happens():
    model = Model(Attention(), Attention(seed=1))
    model.layers[0].training = False
    runs = []

    def call():
        runs.append([each.training for _, each in model.named_modules()])
        if len(runs) == 4:
            raise KeyError("mine")
        return model(X)

    with pytest.raises(KeyError, match="mine"):
        head_effects(model, call)
    assert not any(any(run) for run in runs), "in eval mode"
    assert [model.training, *(each.training for each in model.layers)] == [True, False, True]
    assert not any(each.before or each.after for _, each in model.named_modules())


def test_unused_layers_have_no_effect_known():
    model = Model(Attention(), Attention(seed=1))
    effects = head_effects(model, lambda: {"logits": model.layers[1](X)[0]})
    assert np.isnan(effects[0]).all()
    assert (effects[1] > 0).all()


def random_model():
    rng = np.random.default_rng(0)
    return Model(Attention()), lambda: rng.normal(size=(2, 3))


def undeclared():
    model = Model(Attention())
    del model.layers[0].num_heads
    return model, lambda: X


@pytest.mark.parametrize(
    ("model", "call", "loss", "message"),
    [
        (*random_model(), None, "Two equal calls gave different outputs"),
        (*undeclared(), None, "doesn't declare how many heads"),
        (3, lambda: X, None, "takes a PyTorch module first; got int"),
        (Model(Attention()), X, None, "call must be a function without arguments"),
        (Model(Attention()), lambda: "text", None, "call must return the model's output"),
        (Model(Attention()), lambda: X, lambda output: output, "loss must return one number"),
        (Model(), lambda: X, None, "No module of attention was found in Model"),
    ],
)
def test_what_cannot_be_measured_is_refused(model, call, loss, message):
    with pytest.raises(OwnArraysError, match=message):
        head_effects(model, call, loss)
