"""Mistakes with the scale and the softcap of scores, and with the softmax."""

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from attnviz.checks.causes.cause import ALONG_THE_BATCH, SCALED, SOFTMAX, Cause, Causes, Change, MistakeContext, change
from attnviz.checks.passes.fitted_scale import is_near, simple
from attnviz.checks.passes.nodes import Node
from attnviz.checks.read.rounding import Precision, Rounded, applied
from attnviz.core.operations.scores import LIMITS, Scale, Softcap
from attnviz.core.operations.softmax import Softmax

CAUSES = Causes()

# --- Softmax

_INFORMATIVE = 1e-3  # smaller attention weights, relative to the largest, don't show dropout
_ROUNDINGS = 8.0  # the rounding errors that a float16 weight may have
# What dropout is on, and the least number that shows it, relative to the largest: outputs have rounding errors of sums
_DROPPED = {"attention": ("share", _INFORMATIVE), "output": ("number of the output", 0.05)}


def _softmax_node(context: MistakeContext) -> Node | None:
    return context.nodes["attention"] if context.made_by(Softmax, "attention") else None


@CAUSES.add(
    "the softmax was taken along the {axis}, not along the keys", "attention = scores.softmax(dim={dim})", SOFTMAX
)
def softmax_along_the_wrong_axis(context: MistakeContext) -> Iterator[Change]:
    softmax = context.operation("attention")
    if softmax is None:
        return

    def make(axis: int, filling: float, values: Sequence[Rounded], precision: Precision) -> Rounded:
        """`filling` stands where everything along the axis is hidden."""
        (masked,) = values
        weights = applied(softmax, [masked.map(lambda each: each.swapaxes(axis, -1))], precision)
        weights = weights.map(lambda each: each.swapaxes(axis, -1))
        all_hidden = np.isneginf(masked.value).all(axis=axis, keepdims=True)
        return Rounded(np.where(all_hidden, filling, weights.value), weights.error)

    trace = context.trace
    hidden = np.isneginf(trace["masked"].value) if "masked" in trace else np.zeros((1, 1, 1), dtype=bool)
    for axis, name, dim in ((-2, "queries", "-2"), (-3, "heads", "-3")):
        for filling in (0.0, np.nan, 1 / hidden.shape[axis]) if hidden.all(axis=axis).any() else (0.0,):
            yield change({"attention": Node(("masked",), partial(make, axis, filling))}, axis=name, dim=dim)


_BATCH_AXIS = "attention ran along the batch axis (in nn.MultiheadAttention: a wrong batch_first), so that"
_BATCH_LINES = "nn.MultiheadAttention(d_model, n_heads)", "nn.MultiheadAttention(d_model, n_heads, batch_first=True)"

# found in a batch, by splitting it along the other axis
CAUSES[ALONG_THE_BATCH] = Cause(f"{_BATCH_AXIS} tokens of different sentences attended to each other", *_BATCH_LINES)


@CAUSES.add(f"{_BATCH_AXIS} each token attended only to itself", *_BATCH_LINES)
def attention_along_the_batch(context: MistakeContext) -> Iterator[Change]:
    *_, n, n_keys = shape = context.trace["attention"].shape if context.computes("attention") else (0, 0)
    if n == n_keys > 1 and "context" not in context.trace:
        itself = Rounded(np.broadcast_to(np.eye(n), shape))
        yield change({"attention": Node(context.trace["attention"].inputs, lambda values, precision: itself)})


@CAUSES.add("the softmax was taken twice", f"{SOFTMAX}.softmax(dim=-1)", SOFTMAX)
def softmax_twice(context: MistakeContext) -> Iterator[Change]:
    if node := _softmax_node(context):
        yield change({"attention": node.followed_by(Softmax())})


@CAUSES.add(
    "the softmax took powers of 2, not of e",
    "attention = torch.exp2(scores); attention = attention / attention.sum(dim=-1, keepdim=True)",
    SOFTMAX,
)
def softmax_of_base_2(context: MistakeContext) -> Iterator[Change]:
    if node := _softmax_node(context):
        yield change({"attention": node.after(Scale(1, float(np.log(2))))})


@CAUSES.add(
    "the sinks were left out of the softmax",
    SOFTMAX,
    "attention = torch.cat([scores, sinks], dim=-1).softmax(dim=-1)[..., :-1]",
)
def sinks_left_out(context: MistakeContext) -> Iterator[Change]:
    if (node := _softmax_node(context)) and "sinks" in node.inputs[1:]:
        yield change({"attention": node.without_input("sinks")})


@CAUSES.add("the attention was averaged over heads before it was used", f"{SOFTMAX}.mean(dim=1, keepdim=True)", SOFTMAX)
def attention_averaged_over_heads(context: MistakeContext) -> Iterator[Change]:
    if (node := _softmax_node(context)) and context.sizes["h"] > 1:
        yield change({"attention": node.then(lambda each: np.broadcast_to(each.mean(axis=0), each.shape))})


@CAUSES.add(
    "dropout was left on, with p = {p}: each {number} is 0 or divided by 1 − p",
    "{stage} = F.dropout({stage}, {p})",
    "{stage} = F.dropout({stage}, {p}, self.training)  # and model.eval()",
)
def dropout_left_on(context: MistakeContext) -> Iterator[Change]:
    """Every attention weight of theirs, or number of the output, is 0, or ours divided by 1 - p."""
    first = context.first_difference
    if not first or not first.pair or first.stage not in _DROPPED or not context.computes(first.stage):
        return
    (theirs, ours), (number, least) = first.pair, _DROPPED[first.stage]
    informative = np.abs(ours) > least * np.abs(ours).max()
    kept = informative & (theirs != 0)
    if not kept.any() or kept.sum() == informative.sum():
        return
    factors = theirs[kept] / ours[kept]
    factor = float(np.median(factors))
    allowed = np.maximum(_INFORMATIVE, _ROUNDINGS * first.rounding / np.abs(ours[kept])) * factor
    if factor >= 1 + _INFORMATIVE and (np.abs(factors - factor) < allowed).all():
        p = 1 - 1 / factor
        p = next((round(p, n) for n in (2, 3) if abs(round(p, n) - p) < _INFORMATIVE), p)
        dropped = np.where(theirs == 0, 0, 1 / (1 - p))
        node = context.nodes[first.stage].then(lambda array: array * dropped)
        yield change({first.stage: node}, p=f"{p:.3g}", number=number, stage=first.stage)


# --- Scale


def _scale(context: MistakeContext) -> Scale | None:
    scale = context.operation("scaled")
    return scale if isinstance(scale, Scale) else None


def _right_divisor(scale: Scale) -> tuple[float, str]:
    return (scale.d_k**0.5, "√d_k") if scale.factor is None else (1 / scale.factor, f"{1 / scale.factor:.4g}")


def _usual_divisors(context: MistakeContext, scale: Scale) -> dict[str, float]:
    n_heads, d_k = context.sizes["h"], scale.d_k
    d_model = context.trace["x"].shape[-1] if "x" in context.trace else n_heads * d_k
    divisors = {"1": 1.0, "√d_model": d_model**0.5, "d_k": float(d_k), "d_model": float(d_model)}
    divisors |= {"√heads": n_heads**0.5} if n_heads > 1 else {}
    return divisors | ({"√d_k": d_k**0.5} if scale.factor is not None else {})


def _divided_by(context: MistakeContext, scale: Scale, number: float, **slots: str) -> Change:
    slots |= {"right": _right_divisor(scale)[1]}
    return change({"scaled": context.computed("scaled", Scale(scale.d_k, 1 / number))}, **slots)


@CAUSES.add(
    "the scores were not divided by {right}",
    "scores = q @ k.transpose(-2, -1)",
    "scores = q @ k.transpose(-2, -1) / {right}",
    "T5 and GPT-Neo leave it out on purpose.",
)
def unscaled(context: MistakeContext) -> Iterator[Change]:
    if (scale := _scale(context)) and not is_near(1.0, _right_divisor(scale)[0]):
        yield _divided_by(context, scale, 1.0)


@CAUSES.add(
    "the scores were divided by {divisor}, not by {right}",
    "scores = q @ k.transpose(-2, -1) / {divisor}",
    "scores = q @ k.transpose(-2, -1) / {right}",
    "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar, which their configuration has.",
)
def wrong_scale(context: MistakeContext) -> Iterator[Change]:
    if not (scale := _scale(context)):
        return
    right, _ = _right_divisor(scale)
    usual, fit = _usual_divisors(context, scale), context.fit
    for name, divisor in usual.items():
        if name != "1" and not is_near(divisor, right):
            yield _divided_by(context, scale, divisor, divisor=name)
    factors = [fit.factor(), *(fit.factor_and_limit or ())[:1]] if fit else []  # without a softcap, and with one
    others = (right, scale.d_k**-0.5, right / np.log(2), *usual.values())  # 2^x is e^(x ln 2)
    for factor in filter(None, factors):
        if not is_near(right / factor, *others):
            divisor, name = simple(right / factor)
            yield _divided_by(context, scale, divisor, divisor=name)


@CAUSES.add("the scores were multiplied by √d_k, not divided", "scores = q @ k.transpose(-2, -1) * d_k ** 0.5", SCALED)
def scale_inverted(context: MistakeContext) -> Iterator[Change]:
    if (scale := _scale(context)) and scale.factor is None:
        yield _divided_by(context, scale, scale.d_k**-0.5)


@CAUSES.add(
    "the scores were divided by √d_k twice", "q = q / d_k ** 0.5; scores = q @ k.transpose(-2, -1) / d_k ** 0.5", SCALED
)
def scaled_twice(context: MistakeContext) -> Iterator[Change]:
    if (scale := _scale(context)) and scale.factor is None:
        yield _divided_by(context, scale, scale.d_k)


# --- Softcap


@CAUSES.add("the scores were not capped (softcap)", SOFTMAX, "scores = cap * torch.tanh(scores / cap)")
def softcap_left_out(context: MistakeContext) -> Iterator[Change]:
    if context.made_by(Softcap, "capped"):
        yield change({"capped": context.left_out("capped")})


@CAUSES.add(
    "the scores were capped at ±{limit} (softcap), and not at the pass's own",
    "scores = {limit} * torch.tanh(scores / {limit})",
    "scores = cap * torch.tanh(scores / cap)",
)
def wrong_softcap(context: MistakeContext) -> Iterator[Change]:
    cap = context.operation("capped")
    if isinstance(cap, Softcap):
        for limit, text in _limits(context, cap.limit):
            yield change({"capped": context.computed("capped", Softcap(limit))}, limit=text)


@CAUSES.add(
    "the scores were capped at ±{limit} (softcap)",
    "scores = {limit} * torch.tanh(scores / {limit})",
    "scores = scores",
    "Gemma 2 and Grok do so on purpose.",
)
def softcap_added(context: MistakeContext) -> Iterator[Change]:
    if not context.made_by(Softcap, "capped") and context.computes("masked"):
        masked = context.nodes["masked"]
        for limit, text in _limits(context) if masked.inputs[0] == "scaled" else ():
            yield change({"masked": masked.after(Softcap(limit))}, limit=text)


def _limits(context: MistakeContext, *right: float) -> Iterator[tuple[float, str]]:
    """The softcaps of known models, then those that fit the scores with the right divisor and with a wrong one."""
    usual = [each for each in LIMITS if each not in right]
    yield from ((each, f"{each:g}") for each in usual)
    fit, scale = context.fit, _scale(context)
    if fit is None:
        return
    fitted = [fit.limit(1.0)]
    factor, limit = fit.factor_and_limit or (0.0, 0.0)
    if limit and scale and not is_near(factor, 1.0):
        divisor = _right_divisor(scale)[0] / factor
        usual_divisors = (each for each in _usual_divisors(context, scale).values() if is_near(divisor, each))
        fitted.append(fit.limit(_right_divisor(scale)[0] / next(usual_divisors, simple(divisor)[0])))
    for each in filter(None, fitted):
        if not is_near(each, *usual, *right):
            yield simple(each)
