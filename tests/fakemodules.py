"""Modules that look to attnviz like PyTorch's, in NumPy: parameters and children by their names, and forward hooks."""

import numpy as np


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

    def long(self):
        return self.astype(np.int64)


def tensor(array):
    return np.asarray(array, dtype=np.float64).view(Tensor)


class Module:
    """Whatever has a `forward`; its attributes are its parameters and children."""

    def __init__(self):
        self.before, self.after = {}, {}

    def __call__(self, *args, **kwargs):
        for hook, with_kwargs in list(self.before.values()):
            hook(self, args, kwargs) if with_kwargs else hook(self, args)
        output = self.forward(*args, **kwargs)
        for hook, with_kwargs in list(self.after.values()):
            hook(self, args, kwargs, output) if with_kwargs else hook(self, args, output)
        return output

    def register_forward_pre_hook(self, hook, with_kwargs=False):
        return Handle(self.before, hook, with_kwargs)

    def register_forward_hook(self, hook, with_kwargs=False):
        return Handle(self.after, hook, with_kwargs)

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


class Attention(Module):
    """Causal attention, whose scores are multiplied by `scale`."""

    def __init__(self, d_model=6, n_heads=2, scale=3**-0.5, seed=0):
        super().__init__()
        self.num_heads, self.scale = n_heads, scale
        self.W_query, self.W_key, self.W_value, self.out_proj = (Linear(d_model, d_model, seed + at) for at in range(4))

    def turned(self, x):
        """Queries or keys, as they are."""
        return x

    def forward(self, x):
        sentences, tokens, _ = x.shape
        q, k, v = (
            np.swapaxes(layer(x).reshape(sentences, tokens, self.num_heads, -1), 1, 2)
            for layer in (self.W_query, self.W_key, self.W_value)
        )
        q, k = self.turned(q), self.turned(k)
        scores = np.where(np.tri(tokens) > 0, q @ np.swapaxes(k, 2, 3) * self.scale, -np.inf)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        attention = e / e.sum(axis=-1, keepdims=True)
        return self.out_proj(np.swapaxes(attention @ v, 1, 2).reshape(x.shape)), tensor(attention)


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
