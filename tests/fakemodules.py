"""Modules that look to attnviz like PyTorch's, in NumPy: parameters and children by their names, and forward hooks."""

from types import SimpleNamespace

import numpy as np
from implementations import softmax


class Tensor(np.ndarray):
    """An array that can be detached."""

    def detach(self):
        return self

    def cpu(self):
        return self

    @property
    def data(self):
        return self

    def copy_(self, other):
        self[...] = other

    def new_tensor(self, array):
        return tensor(array)

    def bool(self):
        return self.astype(bool)

    def long(self):
        return self.astype(np.int64)


def tensor(array):
    return np.asarray(array, dtype=np.float64).view(Tensor)


class Module:
    """Whatever has a `forward`; its attributes are its parameters and children."""

    training = True

    def __init__(self):
        self.before, self.after, self.always = {}, {}, {}

    def train(self, mode=True):
        self.training = mode
        for _, child in self.children():
            child.train(mode)

    def eval(self):
        self.train(False)

    def __call__(self, *args, **kwargs):
        for hook, with_kwargs in list(self.before.values()):
            replaced = hook(self, args, kwargs) if with_kwargs else hook(self, args)
            args = args if replaced is None or with_kwargs else replaced
        try:
            output = self.forward(*args, **kwargs)
        except Exception:
            for hook, _ in list(self.always.values()):
                hook(self, args, None)
            raise
        for hook, with_kwargs in [*self.always.values(), *self.after.values()]:
            hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
        return output

    def register_forward_pre_hook(self, hook, with_kwargs=False):
        return Handle(self.before, hook, with_kwargs)

    def register_forward_hook(self, hook, with_kwargs=False, always_call=False):
        return Handle(self.always if always_call else self.after, hook, with_kwargs)

    def children(self):
        for name, value in vars(self).items():
            if isinstance(value, Module):
                yield name, value
            elif isinstance(value, list):
                yield from ((f"{name}.{at}", each) for at, each in enumerate(value))

    def named_modules(self, prefix=""):
        yield prefix, self
        for name, child in self.children():
            yield from child.named_modules(f"{prefix}.{name}" if prefix else name)

    def named_parameters(self):
        yield from ((name, value) for name, value in vars(self).items() if isinstance(value, Tensor))
        for name, child in self.children():
            yield from ((f"{name}.{each}", value) for each, value in child.named_parameters())


class Handle:
    def __init__(self, hooks, hook, with_kwargs):
        self.hooks = hooks
        hooks[id(self)] = hook, with_kwargs

    def remove(self):
        del self.hooks[id(self)]


class Linear(Module):
    def __init__(self, n_in, n_out, seed):
        super().__init__()
        self.weight = tensor(np.random.default_rng(seed).normal(size=(n_out, n_in)))

    def forward(self, x):
        return x @ self.weight.T


class Biased(Linear):
    """A layer whose bias is 0 when it is fresh."""

    def __init__(self, n_in, n_out, seed):
        super().__init__(n_in, n_out, seed)
        self.bias = tensor(np.zeros(n_out))

    def forward(self, x):
        return super().forward(x) + self.bias


class Attention(Module):
    """Causal attention, whose scores are multiplied by `scale`."""

    def __init__(self, d_model=6, n_heads=2, scale=3**-0.5, seed=0, layer=Linear):
        super().__init__()
        self.num_heads, self.scale = n_heads, scale
        self.W_query, self.W_key, self.W_value, self.out_proj = (layer(d_model, d_model, seed + at) for at in range(4))

    def turned(self, x):
        """Queries or keys, as they are."""
        return x

    def projected(self, x):
        """The rows of queries, keys and values, before they are cut into heads."""
        return self.W_query(x), self.W_key(x), self.W_value(x)

    def bias(self, tokens):
        """What is added to scores."""
        return 0

    def shares(self, scores):
        """The attention of scores."""
        return causal(scores)

    def forward(self, x):
        sentences, tokens, _ = x.shape
        q, k, v = (np.swapaxes(rows.reshape(sentences, tokens, self.num_heads, -1), 1, 2) for rows in self.projected(x))
        attention = self.shares(self.turned(q) @ np.swapaxes(self.turned(k), 2, 3) * self.scale + self.bias(tokens))
        return self.out_proj(np.swapaxes(attention @ v, 1, 2).reshape(x.shape)), tensor(attention)


class Conv1D(Linear):
    """GPT-2's layer, whose weight is (in, out)."""

    def __init__(self, n_in, n_out, seed):
        super().__init__(n_out, n_in, seed)

    def forward(self, x):
        return x @ self.weight


class FusedAttention(Attention):
    """Causal attention whose q, k and v come of one matrix, as GPT-2's."""

    def __init__(self, seed=0, scale=3**-0.5):
        super().__init__(scale=scale)
        del self.W_query, self.W_key, self.W_value, self.out_proj
        self.c_attn, self.c_proj = Conv1D(6, 18, seed), Conv1D(6, 6, seed + 1)

    def projected(self, x):
        return np.split(self.c_attn(x), 3, axis=-1)

    def out_proj(self, joined):
        return self.c_proj(joined)


class ByHeads(Attention):
    """Causal attention with one matrix that holds q, k and v of each head beside each other, as GPT-NeoX's."""

    def __init__(self, seed=0):
        super().__init__(layer=Biased)
        del self.W_query, self.W_key, self.W_value, self.out_proj
        self.query_key_value, self.dense = Biased(6, 18, seed), Biased(6, 6, seed + 1)

    def projected(self, x):
        parts = self.query_key_value(x).reshape(*x.shape[:2], self.num_heads, 3, -1)
        return (parts[..., at, :].reshape(x.shape) for at in range(3))

    def out_proj(self, joined):
        return self.dense(joined)


class SharedKeys(Attention):
    """Causal attention of two heads that share keys and values, from one matrix or several, as Phi-3's or Llama's."""

    def __init__(self, seed=0, is_fused=True):
        super().__init__(seed=seed)
        del self.W_query, self.W_key, self.W_value
        if is_fused:
            self.qkv_proj = Linear(6, 12, seed + 4)
        else:
            self.q_proj, self.k_proj, self.v_proj = Linear(6, 6, seed), Linear(6, 3, seed + 1), Linear(6, 3, seed + 2)

    def projected(self, x):
        if hasattr(self, "qkv_proj"):
            q, k, v = np.split(self.qkv_proj(x), [6, 9], axis=-1)
        else:
            q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return q, np.tile(k, 2), np.tile(v, 2)


class Capped(Attention):
    """Causal attention that declares the limit of its scores, as Gemma 2's."""

    def __init__(self, seed=0, cap=0.5):
        super().__init__(seed=seed)
        self.attn_logit_softcapping = cap

    def shares(self, scores):
        cap = self.attn_logit_softcapping
        return causal(cap * np.tanh(scores / cap) if cap else scores)


class WithOutputOutside(Module):
    """Causal attention whose output matrix is outside, and whose output is added to its input, as BERT's."""

    def __init__(self, seed=0):
        super().__init__()
        self.self, self.output = HeadOutputs(seed), Outside(seed)

    def forward(self, x):
        joined, attention = self.self(x)
        return self.output(joined) + x, attention


class HeadOutputs(Attention):
    """Causal attention without an output matrix."""

    def __init__(self, seed=0):
        super().__init__(seed=seed)
        del self.out_proj

    def out_proj(self, joined):
        return joined


class Outside(Module):
    def __init__(self, seed):
        super().__init__()
        self.dense = Linear(6, 6, seed + 3)

    def forward(self, x):
        return self.dense(x)


class HasKernels(Attention):
    """Attention with a fused kernel, which returns no attention and is causal unless it gets a mask."""

    def __init__(self, seed=0):
        super().__init__(seed=seed)
        self.config, self.is_causal = SimpleNamespace(_attn_implementation="sdpa"), True

    def forward(self, x, attention_mask=None):
        self.mask = None if attention_mask is None else np.asarray(attention_mask)
        output, attention = super().forward(x)
        return output, None if self.config._attn_implementation == "sdpa" else attention

    def shares(self, scores):
        is_fused = self.config._attn_implementation == "sdpa"
        if self.mask is None:
            return causal(scores) if is_fused else softmax(scores)
        return softmax(scores + self.mask)


def causal(scores):
    return softmax(np.where(np.tri(scores.shape[-1]) > 0, scores, -np.inf))


class Norm(Module):
    """RMSNorm."""

    def __init__(self, length, seed):
        super().__init__()
        self.weight = tensor(1 + np.random.default_rng(seed).normal(size=length) / 4)

    def forward(self, x):
        return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-6) * self.weight


class NormsAllHeads(Attention):
    """Attention that norms queries and keys before they are cut into heads, as OLMo 2."""

    def __init__(self, seed=0):
        super().__init__(seed=seed)
        self.q_norm, self.k_norm = Norm(6, seed + 5), Norm(6, seed + 6)

    def projected(self, x):
        q, k, v = super().projected(x)
        return self.q_norm(q), self.k_norm(k), v


class LayerNorm(Norm):
    def forward(self, x):
        centred = x - x.mean(axis=-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + 1e-6) * self.weight


class NormsEachHead(NormsAllHeads):
    """Attention whose queries and keys are normed by heads: by LayerNorm as in timm, with gains by head as Cohere's."""

    def __init__(self, norm=LayerNorm, shape=3):
        super().__init__()
        self.q_norm, self.k_norm = norm(shape, 5), norm(shape, 6)

    def projected(self, x):
        q, k, v = Attention.projected(self, x)
        split = (*x.shape[:-1], 2, 3)
        return self.q_norm(q.reshape(split)).reshape(x.shape), self.k_norm(k.reshape(split)).reshape(x.shape), v


class Table(Module):
    """A bias for each distance of a key and each head (queries, keys, heads)."""

    def __init__(self):
        super().__init__()
        self.weight = tensor(np.random.default_rng(8).normal(size=(9, 2)))

    def forward(self, places):
        return self.weight[places]


class BiasedByPosition(Attention):
    """Attention with a bias by position, whose scores aren't divided, as T5."""

    def __init__(self):
        super().__init__(scale=1.0)
        self.scaling, self.relative_attention_bias = 1.0, Table()

    def shares(self, scores):
        return softmax(scores)

    def bias(self, tokens):
        places = np.arange(tokens)
        return np.moveaxis(self.relative_attention_bias(places[None] - places[:, None] + 4), -1, 0)


class AddsToResidual(Attention):
    """Attention that is called with a bias by position and what its output is added to, as BLOOM."""

    def bias(self, tokens):
        return self.alibi.reshape(-1, self.num_heads, 1, tokens)

    def forward(self, x, residual, alibi):
        self.alibi = alibi
        output, attention = super().forward(x)
        return residual + output, attention


class DividesBias(AddsToResidual):
    """Attention that divides the scores after ALiBi's biases were added, as Falcon's."""

    def bias(self, tokens):
        return super().bias(tokens) * self.scale


class NormsOutput(Attention):
    """Attention that adds its output to its input and norms the sum, as ALBERT's."""

    def __init__(self):
        super().__init__()
        self.LayerNorm = LayerNorm(6, 4)

    def forward(self, x):
        output, attention = super().forward(x)
        return self.LayerNorm(x + output), attention


for each in (BiasedByPosition, AddsToResidual, Capped, NormsOutput):
    each.__module__ = "transformers.models.fake"
DividesBias.__module__ = "transformers.models.falcon.fake"


class LatentHeads(Module):
    """Causal attention whose keys and values are made of a latent, two of four dimensions turned, as DeepSeek's."""

    num_heads, qk_nope_head_dim, qk_rope_head_dim, kv_lora_rank = 2, 2, 2, 3

    def __init__(self):
        super().__init__()
        self.q_proj, self.kv_a_proj_with_mqa = Linear(6, 8, 1), Linear(6, 5, 2)
        self.kv_b_proj, self.o_proj = Linear(3, 10, 3), Linear(6, 6, 4)

    def forward(self, x):
        sentences, tokens, _ = x.shape
        cut = lambda rows: np.swapaxes(rows.reshape(sentences, tokens, 2, -1), 1, 2)  # noqa: E731
        compressed = self.kv_a_proj_with_mqa(x)
        q, kv = cut(self.q_proj(x)), cut(self.kv_b_proj(compressed[..., :3]))
        shared = turned(compressed[:, None, :, 3:])
        scores = q[..., :2] @ np.swapaxes(kv[..., :2], 2, 3) + turned(q[..., 2:]) @ np.swapaxes(shared, 2, 3)
        attention = causal(scores / 2)
        return self.o_proj(np.swapaxes(attention @ kv[..., 2:], 1, 2).reshape(x.shape)), tensor(attention)


def turned(pairs):
    """Pairs of numbers turned by their positions."""
    angles = np.arange(pairs.shape[-2])
    a, b = pairs[..., 0], pairs[..., 1]
    return np.stack([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)


class FakeRotaryEmbedding:
    """The cosines and sines of each position, two halves of a head turned alike; a library's is found by its name."""

    def __init__(self, config):
        self.length = config["head_dim"]

    def forward(self, x, positions):
        angles = positions[..., None] * 10_000.0 ** (-np.arange(0, self.length, 2) / self.length)
        angles = np.concatenate([angles, angles], axis=-1)
        return tensor(np.cos(angles)), tensor(np.sin(angles))

    __call__ = forward


class RotatedAttention(Attention):
    """Causal attention, whose queries and keys are turned by the cosines and sines that it is called with."""

    def __init__(self, seed=0, pairs_neighbours=False):
        super().__init__(d_model=8, n_heads=2, scale=0.5, seed=seed)
        self.config, self.pairs_neighbours = {"head_dim": 4}, pairs_neighbours

    def forward(self, x, position_embeddings):
        self.cos, self.sin = (each[:, None] for each in position_embeddings)
        return super().forward(x)

    def turned(self, x):
        if self.pairs_neighbours:
            x = x[..., [0, 2, 1, 3]]
        other = np.concatenate([-x[..., 2:], x[..., :2]], axis=-1)
        turned = x * self.cos + other * self.sin
        return turned[..., [0, 2, 1, 3]] if self.pairs_neighbours else turned


class Model(Module):
    """Layers of attention one after the other, and one whose parameters have names of their own."""

    def __init__(self, *layers):
        super().__init__()
        self.layers = list(layers)

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)[0]
        return x


class LatentAttention(Module):
    def __init__(self):
        super().__init__()
        self.kv_b_proj = Linear(6, 6, 9)

    def forward(self, x):
        return (x,)
