"""PyTorch's dispatch modes as attnviz sees them, in NumPy: operations that every active mode is told of."""

import sys
from types import SimpleNamespace

import numpy as np
from fakemodules import Module, tensor
from implementations import softmax

MODES = []


class TorchDispatchMode:
    def __enter__(self):
        MODES.append(self)
        return self

    def __exit__(self, *error):
        assert MODES.pop() is self


def pretend(monkeypatch):
    """Have `sys.modules` hold a PyTorch of fake modules and modes."""
    dispatch = SimpleNamespace(TorchDispatchMode=TorchDispatchMode)
    torch = SimpleNamespace(nn=SimpleNamespace(Module=Module), utils=SimpleNamespace(_python_dispatch=dispatch))
    monkeypatch.setitem(sys.modules, "torch", torch)


def _operation(name, *names):
    """Make an operation that the innermost mode may carry out; inside of it the mode is off."""

    def wrap(compute):
        def func(*args):
            return tensor(compute(*map(np.asarray, args)))

        func.__name__ = name
        func._schema = SimpleNamespace(arguments=[SimpleNamespace(name=each) for each in names])

        def call(*args):
            if not MODES:
                return func(*args)
            mode = MODES.pop()
            try:
                return mode.__torch_dispatch__(func, (), args, {})
            finally:
                MODES.append(mode)

        return call

    return wrap


@_operation("bmm", "self", "mat2")
def bmm(a, b):
    return a @ b


@_operation("mm", "self", "mat2")
def mm(a, b):
    return a @ b


@_operation("_softmax", "self", "dim")
def fake_softmax(scores, dim):
    return softmax(scores)


@_operation("mul", "self", "other")
def mul(a, by):
    return a * by


@_operation("_scaled_dot_product_flash_attention", "query", "key", "value", "dropout_p", "is_causal")
def fused(q, k, v, dropout_p, is_causal):
    scores = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5
    return softmax(np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf) if is_causal else scores) @ v


def matmul(a, b):
    """Products of all leading axes in one, as PyTorch makes them."""
    shape = (*a.shape[:-1], b.shape[-1])
    return bmm(a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])).reshape(shape)
