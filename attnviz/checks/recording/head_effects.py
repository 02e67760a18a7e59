"""Head effects: `attnviz.head_effects`, how much a model's output or loss changes without each head."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np

from attnviz.checks.recording.dispatch import array_of
from attnviz.checks.recording.modules import AttentionModule, attention_modules, check_module, in_eval_mode
from attnviz.core.arguments import quoted
from attnviz.core.errors import OwnArraysError, guarded

_OUTPUTS = ("logits", "last_hidden_state")  # fields of Hugging Face's outputs, whose first may be a loss
_TOLERANCE = 1e-6  # relative: threads may add in another order, dropout changes more


def head_effects(
    model: Any,
    call: Callable[[], Any],
    loss: Callable[[Any], Any] | None = None,
    *,
    names: Mapping[str, str] | None = None,
) -> np.ndarray:
    """Measure what each head of a PyTorch model contributes: the change when its result is set to 0.

    `call` is made twice on the whole model, and once for each head with that head's part of what enters W_O set to 0,
    as Michel et al. (2019, "Are Sixteen Heads Really Better than One?") ablate heads. The model is in eval mode and
    without gradients meanwhile, and afterwards as before. attnviz never imports torch.

    Parameters
    ----------
    model : torch.nn.Module
        The layers are those that `record` finds, in its order.
    call : callable
        Runs the model on your input and returns its output; called without arguments: `lambda: model(**inputs)`. It
        must compute the same every time, so create a cache inside it.
    loss : callable, optional
        From that output to one number. Without it, the effect is the mean absolute change of the output's numbers:
        its `logits` or `last_hidden_state`, or the first array in it.
    names : mapping of str to str, optional
        The stages of parameters with unknown names, as in `record`.

    Returns
    -------
    ndarray (layers, heads)
        With a loss, its rise without the head: above 0, the head helps. NaN for layers that `call` didn't use, and past
        the last head of layers with fewer heads than others.

    Raises
    ------
    OwnArraysError
        If no attention is found, a layer's heads can't be told apart, equal calls give different outputs, or `loss`
        doesn't return one number. Errors of `call` and `loss` are passed on.

    Examples
    --------
    >>> import torch
    >>> from attnviz import head_effects
    >>> layer, x = torch.nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(1, 3, 8)
    >>> layer.out_proj.weight.data[:, 4:] = 0.0  # the output ignores the second head
    >>> effects = head_effects(layer, lambda: layer(x, x, x)[0])
    >>> effects.shape, effects > 0
    ((1, 2), array([[ True, False]]))
    """
    check_module("head_effects takes a PyTorch module first", model)
    for name, given, such_as in (
        ("call", call, "without arguments, such as lambda: model(x)"),
        ("loss", loss or callable, "of the output, such as lambda output: output.loss"),
    ):
        if not callable(given):
            raise OwnArraysError(f"{name} must be a function {such_as}; got {quoted(given)}.")
    with guarded("find the attention in this model", "the names of its modules and parameters"):
        layers = [_Layer(each) for each in attention_modules(model, names)[0]]
    if not layers:
        raise OwnArraysError(f"No module of attention was found in {type(model).__name__}.")
    effects = np.full((len(layers), max(each.n_heads for each in layers)), np.nan)

    def run() -> np.ndarray | float:
        output = call()
        return _array_in(output) if loss is None else _number(loss(output))

    with in_eval_mode(model), _without_gradients(), _hooked(layers):
        whole = run()
        if not np.allclose(whole, run(), rtol=_TOLERANCE, atol=_TOLERANCE * float(np.abs(whole).max()), equal_nan=True):
            raise OwnArraysError(
                "Two equal calls gave different outputs, so no change can be put down to a head. Is there dropout that "
                "eval() leaves on, such as F.dropout(x, p) without training=self.training, or a cache that grows?"
            )
        for at, layer in enumerate(layers):
            for head in range(layer.n_heads if layer.is_called else 0):
                with layer.without(head):
                    change = np.asarray(run()) - whole
                effects[at, head] = change if loss else np.abs(change).mean()
    return effects


class _Layer:
    """A layer's output matrix W_O, and which head's part of its input is set to 0."""

    def __init__(self, attention: AttentionModule) -> None:
        self.attention = attention
        self.name = next((name for name, stage in attention.stages.items() if stage == "w_o"), "")
        self.is_called = False  # the attention module
        self.is_w_o_called = False  # its output matrix, if that is a module with a forward of its own
        self._head: int | None = None
        place = attention.path or "the model"
        if not self.name:
            raise OwnArraysError(f"{place} has no output matrix of a known name. Give its stage: names={{...: 'w_o'}}.")
        if attention.n_heads is None:
            raise OwnArraysError(f"{place} doesn't declare how many heads it has. Set its num_heads.")
        self.n_heads = attention.n_heads

    def hooks(self) -> Iterator[Any]:
        """Register the hooks, which need to be removed afterwards."""

        def begin(module: Any, args: tuple) -> None:
            self.is_called = True

        def enter(module: Any, args: tuple) -> tuple | None:
            self.is_called = self.is_w_o_called = True
            if self._head is None:
                return None
            zeroed = _copy(args[0])
            zeroed[..., self._part(zeroed.shape[-1])] = 0
            return (zeroed, *args[1:])

        yield self.attention.module.register_forward_pre_hook(begin)
        owner = self.attention.owners[self.name]
        if owner is not self.attention.module:
            yield owner.register_forward_pre_hook(enter)

    @contextmanager
    def without(self, head: int) -> Iterator[None]:
        self._head = head
        try:
            with nullcontext() if self.is_w_o_called else self._zeroed(head):
                yield
        finally:
            self._head = None

    @contextmanager
    def _zeroed(self, head: int) -> Iterator[None]:
        """Set the head's part of W_O to 0, where that is read without a call, as `nn.MultiheadAttention` does."""
        weight = self.attention.parameters[self.name].data
        if hasattr(self.attention.owners[self.name], "in_features"):  # (out, in)
            part: tuple = (slice(None), self._part(weight.shape[1]))
        elif weight.ndim == 3 and weight.shape[0] == self.n_heads:
            part = (head,)
        else:
            raise OwnArraysError(
                f"{self.name} is used without a call of its layer, and its shape doesn't tell the heads apart. Make it "
                "an nn.Linear that is called."
            )
        original = _copy(weight[part])
        try:
            weight[part] = 0
            yield
        finally:
            weight[part] = original

    def _part(self, width: int) -> slice:
        if width % self.n_heads:
            raise OwnArraysError(
                f"What enters {self.name} has {width} numbers a token, which are no {self.n_heads} heads of equal size."
            )
        size, head = width // self.n_heads, self._head or 0
        return slice(head * size, (head + 1) * size)


@contextmanager
def _hooked(layers: list[_Layer]) -> Iterator[None]:
    handles: list[Any] = []
    try:
        for layer in layers:
            handles.extend(layer.hooks())
        yield
    finally:
        for handle in handles:
            handle.remove()


def _without_gradients() -> AbstractContextManager[Any]:
    torch = sys.modules.get("torch")
    return torch.no_grad() if torch else nullcontext()


def _copy(array: Any) -> Any:
    return array.clone() if hasattr(array, "clone") else array.copy()


def _array_in(output: Any) -> np.ndarray:
    named = next((each for name in _OUTPUTS if (each := getattr(output, name, None)) is not None), output)
    if isinstance(named, Mapping):
        named = tuple(named.values())
    if isinstance(named, (tuple, list)):
        named = next((each for each in named if hasattr(each, "ndim")), None)
    if not hasattr(named, "ndim"):
        raise OwnArraysError(
            f"call must return the model's output, with an array in it, or give loss=...; got {type(output).__name__}."
        )
    return array_of(named).astype(np.float64)


def _number(value: Any) -> float:
    array = np.asarray(value if isinstance(value, int | float) else array_of(value))
    if array.size != 1 or not np.issubdtype(array.dtype, np.number):
        raise OwnArraysError(f"loss must return one number; got {type(value).__name__} of shape {array.shape}.")
    return float(array.reshape(()))
