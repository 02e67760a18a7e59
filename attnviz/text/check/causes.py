"""Causes: each mistake in words, and a line of code that is wrong and one that is right, as PyTorch has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from attnviz.analysis.check.causes.mistake import Mistake
from attnviz.text.wording import listed

MAX_NAME_CHARACTERS = 40

SYMBOLS = {
    **{f"w_{letter}": f"W_{letter.upper()}" for letter in "qkvo"},
    **{f"b_{letter}": f"b_{letter.upper()}" for letter in "qkvo"},
    **{letter: letter.upper() for letter in "qkv"},
}
"""The words for parameters, queries, keys and values."""

_ROWS = {"q": "queries", "k": "keys", "v": "values"}
_LAID_OUT = {
    "in-three": "all of Q, then all of K and V",
    "by-heads": "Q, K and V of each head in turn",
    "q-then-kv": "all of Q, then K and V of each head in turn",
}
_CUTS = {
    "in-three": "q, k, v = (x @ w_qkv.T).chunk(3, dim=-1)",
    "by-heads": "q, k, v = (x @ w_qkv.T).view(n, t, n_heads, 3, d_k).unbind(dim=-2)",
    "q-then-kv": "q, kv = (x @ w_qkv.T).split([d_model, 2 * d_model], dim=-1); k, v = kv.view(n, t, n_heads, 2, d_k)"
    ".unbind(dim=-2)",
}
_NORMS = {"attn_norm": "before attention", "mlp_norm": "before the MLP"}
_PRODUCTS = {"o": ("out", "concat"), "hidden": ("hidden", "x"), "mlp": ("out", "hidden")}
"""What is multiplied with a matrix, and what comes of it, where it isn't x that makes q, k or v."""

_ACTIVATIONS = {
    "ReLU": "F.relu(x)",
    "ReLU²": "F.relu(x) ** 2",
    "the exact GELU": "F.gelu(x)",
    "GELU by tanh": "F.gelu(x, approximate='tanh')",
}

Clause = Callable[[str], str]


@dataclass(frozen=True)
class Cause:
    """What is said of a mistake.

    Attributes
    ----------
    clause : callable
        A clause, of what it was done to or by.
    wrong, right : str
        A line of code each.
    on_purpose : str
        A sentence on the models that do so on purpose.
    """

    clause: Clause
    wrong: str
    right: str
    on_purpose: str = ""


def cause(mistake: Mistake) -> str:
    """A mistake as a clause."""
    return CAUSES[mistake.id].clause(mistake.about)


def code(mistake: Mistake) -> tuple[str, str]:
    """The wrong line of code, and the right one."""
    found, about = CAUSES[mistake.id], mistake.about or "mask"
    lies, read = (_CUTS.get(each, "") for each in (about.split() * 2)[:2])
    letters = [each[-1] for each in about.split() if each[-1:] in "qkvo"]
    part = about.split()[0].partition("_")[2] or "q"
    product, of = _PRODUCTS.get(part, (part, "x"))
    filled = {
        "about": about.split()[-1].replace("−", "-"),
        "letter": letters[0] if letters else "q",
        "other": letters[-1] if letters else "k",
        "part": part,
        "product": product,
        "of": of,
        "divisor": about.replace("√heads", "√n_heads").replace("√", "") + " ** 0.5" * about.startswith("√"),
        "shift": {"later": "+ 1", "earlier": "- 1"}.get(about.split()[-1], ""),
        "pairs": "2, d_k // 2" if about.startswith("halves") else "d_k // 2, 2",
        "activation": _ACTIVATIONS.get(about, ""),
        "axis": {"queries": "-2", "heads": "1"}.get(about, ""),
        "lies": lies,
        "read": read,
    }
    return found.wrong.format(**filled), found.right.format(**filled)


def shortened(name: str) -> str:
    """Someone's name for an array, short enough for a sentence."""
    return name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 3]}..."


def _of(predicate: str) -> Clause:
    """A clause about symbols, which were or was something."""

    def clause(about: str) -> str:
        names = about.split()
        return f"{listed([SYMBOLS.get(each, each) for each in names])} {'were' if names[1:] else 'was'} {predicate}"

    return clause


def _of_rows(predicate: str) -> Clause:
    """A clause about queries, keys or both, which were something; with what follows their letters."""

    def clause(about: str) -> str:
        words = about.split()
        rows = listed([_ROWS[each] for each in words if each in _ROWS])
        rest = " ".join(each for each in words if each not in _ROWS)
        return f"{rows} were {predicate.format(rest)}"

    return clause


def _plain(text: str) -> Clause:
    return lambda about: text.format(about)


def _of_a_mask(predicate: str) -> Clause:
    return lambda about: f"{f'the mask {shortened(about)}'.strip()} {predicate}"


def _of_a_cut(about: str) -> str:
    lies, read = (_LAID_OUT[each] for each in about.split())
    return f"the fused matrix, which holds {lies}, was cut as if it held {read}"


_SCALED = "scores = q @ k.transpose(-2, -1) / d_k ** 0.5"
_HIDDEN = "scores = scores.masked_fill(~mask, -torch.inf)"
_SOFTMAX = "attention = scores.softmax(dim=-1)"
_SPLIT = "{letter} = {letter}.view(n, t, n_heads, d_k).transpose(1, 2)"
_JOINED = "out = heads.transpose(1, 2).reshape(n, t, d_model)"
_TURNED = "q, k = rotate(q, positions), rotate(k, positions)"
_PROJECTED = "{product} = {of} @ w_{part}.T + b_{part}"

CAUSES: dict[str, Cause] = {
    "unscaled": Cause(
        _plain("the scores were not divided by √d_k"),
        "scores = q @ k.transpose(-2, -1)",
        _SCALED,
        "T5 and GPT-Neo leave it out on purpose.",
    ),
    "scaled otherwise": Cause(
        _plain("the scores were divided by {}, not by √d_k"),
        "scores = q @ k.transpose(-2, -1) / {divisor}",
        _SCALED,
        "Some models do so on purpose: Gemma 2 and 3 divide by √query_pre_attn_scalar, which their configuration has.",
    ),
    "scaled twice": Cause(
        _plain("the scores were divided by √d_k twice"),
        "q = q / d_k ** 0.5; scores = q @ k.transpose(-2, -1) / d_k ** 0.5",
        _SCALED,
    ),
    "scale inverted": Cause(
        _plain("the scores were multiplied by √d_k, not divided"),
        "scores = q @ k.transpose(-2, -1) * d_k ** 0.5",
        _SCALED,
    ),
    "mask inverted": Cause(
        _of_a_mask("was applied the other way round"), "scores = scores.masked_fill(mask, -torch.inf)", _HIDDEN
    ),
    "mask not applied": Cause(_of_a_mask("was not applied"), _SOFTMAX, f"{_HIDDEN}; {_SOFTMAX}"),
    "mask multiplied": Cause(
        _plain("the scores were multiplied by the mask, so that a hidden key kept a score of 0"),
        "scores = scores * mask",
        _HIDDEN,
    ),
    "mask off by one": Cause(
        _plain("the mask reached one key too far, so that a query saw the key after those it may see"),
        "mask = torch.ones(t, t).tril(1).bool()",
        "mask = torch.ones(t, t).tril().bool()",
    ),
    "mask hides the token itself": Cause(
        _plain("the mask ended one key too early, so that a query didn't see the last key that it may see"),
        "mask = torch.ones(t, t).tril(-1).bool()",
        "mask = torch.ones(t, t).tril().bool()",
    ),
    "mask transposed": Cause(
        _plain("the mask was used transposed, with queries and keys exchanged"),
        "scores = scores.masked_fill(~mask.T, -torch.inf)",
        _HIDDEN,
    ),
    "mask of the other corner": Cause(
        _plain("the causal mask began in the other corner, as there are more keys than queries or fewer"),
        "mask = torch.ones(n_queries, n_keys).tril().bool()",
        "mask = torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()",
    ),
    "mask added as 0 and 1": Cause(
        _plain("the mask was added to the scores as 0 and 1"),
        "scores = scores + mask",
        _HIDDEN,
    ),
    "mask with a finite number": Cause(
        _plain("hidden scores were set to {}, not to −∞, so that hidden keys kept a share"),
        "scores = scores.masked_fill(~mask, {about})",
        _HIDDEN,
    ),
    "mask adds a finite number": Cause(
        _plain("{} was added to hidden scores, not −∞, so that hidden keys kept a share"),
        "scores = scores + (~mask) * {about}",
        _HIDDEN,
    ),
    "mask after the softmax": Cause(
        _plain("the mask was applied after the softmax, so that rows no longer add up to 1"),
        f"{_SOFTMAX} * mask",
        f"{_HIDDEN}; {_SOFTMAX}",
    ),
    "softcap left out": Cause(
        _plain("the scores were not capped (softcap)"), _SOFTMAX, "scores = cap * torch.tanh(scores / cap)"
    ),
    "softcap added": Cause(
        _plain("the scores were capped at ±{} (softcap)"),
        "scores = {about} * torch.tanh(scores / {about})",
        "scores = scores",
        "Gemma 2 and Grok do so on purpose.",
    ),
    "rotation left out": Cause(_of_rows("not rotated by their positions"), "scores = q @ k.transpose(-2, -1)", _TURNED),
    "rotation of other pairs": Cause(
        _plain("the rotation turned other pairs of dimensions: neighbours in the place of halves, or the reverse"),
        "a, b = x[..., 0::2], x[..., 1::2]",
        "a, b = x.chunk(2, dim=-1)",
        "Hugging Face's weights of Llama are for halves, Meta's own for neighbours.",
    ),
    "rotation off by one": Cause(
        _of_rows("rotated as if they were one position {}"),
        "positions = torch.arange(t) {shift}",
        "positions = torch.arange(t)",
    ),
    "rotation twice": Cause(
        _of_rows("rotated twice"), "{letter} = rotate(rotate({letter}, positions), positions)", _TURNED
    ),
    "kept keys rotated again": Cause(
        _plain("the kept keys, which are rotated already, were rotated again"),
        "k = rotate(torch.cat([kept, k], dim=-2), positions)",
        "k = torch.cat([kept, rotate(k, positions[-1:])], dim=-2)",
    ),
    "rotation of another base": Cause(
        lambda about: f"the rotation had a base of {float(about.split()[-1]):,.0f}, not that of the pass",
        "angles = positions / {about} ** (torch.arange(0, d_k, 2) / d_k)",
        "angles = positions / base ** (torch.arange(0, d_k, 2) / d_k)",
    ),
    "rotation of all dimensions": Cause(
        _plain("all dimensions were rotated, not the first ones alone"),
        "q = rotate(q, positions)",
        "q = torch.cat([rotate(q[..., :n_rotated], positions), q[..., n_rotated:]], dim=-1)",
    ),
    "rotation the other way": Cause(
        _plain("queries and keys were rotated the other way round, by negative angles"),
        "rotate(x): a * cos + b * sin, b * cos - a * sin",
        "rotate(x): a * cos - b * sin, b * cos + a * sin",
    ),
    "rotation before the heads": Cause(
        _plain("queries and keys were rotated before they were cut into heads"),
        "q = rotate(q).view(n, t, n_heads, d_k).transpose(1, 2)",
        "q = rotate(q.view(n, t, n_heads, d_k).transpose(1, 2))",
    ),
    "q and k permuted": Cause(
        lambda about: "the dimensions of Q and K were permuted, as weights for pairs of {} are for pairs of {}".format(
            *about.split()
        ),
        "w_q = w_q.view(n_heads, {pairs}, d_model).transpose(1, 2).reshape(-1, d_model)",
        "w_q = w_q",
    ),
    "norm of queries and keys left out": Cause(
        _of_rows("not normed"), "scores = q @ k.transpose(-2, -1)", "q, k = q_norm(q), k_norm(k)"
    ),
    "norm after the rotation": Cause(
        _plain("queries and keys were normed after they were rotated, not before"),
        "q = q_norm(rotate(q, positions))",
        "q = rotate(q_norm(q), positions)",
    ),
    "softmax along the wrong axis": Cause(
        _plain("the softmax was taken along the {}, not along the keys"),
        "attention = scores.softmax(dim={axis})",
        _SOFTMAX,
    ),
    "softmax twice": Cause(_plain("the softmax was taken twice"), f"{_SOFTMAX}.softmax(dim=-1)", _SOFTMAX),
    "softmax of base 2": Cause(
        _plain("the softmax took powers of 2, not of e"),
        "attention = torch.exp2(scores); attention = attention / attention.sum(dim=-1, keepdim=True)",
        _SOFTMAX,
    ),
    "sinks left out": Cause(
        _plain("the sinks were left out of the softmax"),
        _SOFTMAX,
        "attention = torch.cat([scores, sinks], dim=-1).softmax(dim=-1)[..., :-1]",
    ),
    "attention averaged over heads": Cause(
        _plain("the attention was averaged over heads before it was used"),
        f"{_SOFTMAX}.mean(dim=1, keepdim=True)",
        _SOFTMAX,
    ),
    "dropout left on": Cause(
        _plain("dropout was left on, with p = {}: each share is 0 or divided by 1 − p"),
        "model(x)",
        "model.eval(); model(x)",
    ),
    "attention along the batch": Cause(
        _plain(
            "attention ran along the batch axis (in nn.MultiheadAttention: a wrong batch_first), so that each token "
            "attended only to itself"
        ),
        "nn.MultiheadAttention(d_model, n_heads)",
        "nn.MultiheadAttention(d_model, n_heads, batch_first=True)",
    ),
    "attention transposed": Cause(
        _plain("the attention was transposed before it was multiplied by V"),
        "heads = attention.transpose(-2, -1) @ v",
        "heads = attention @ v",
    ),
    "keys for values": Cause(
        _plain("the attention was multiplied by K, not by V"), "heads = attention @ k", "heads = attention @ v"
    ),
    "q and k swapped": Cause(
        _plain("queries and keys were exchanged in the scores, which are transposed"),
        "scores = k @ q.transpose(-2, -1)",
        "scores = q @ k.transpose(-2, -1)",
    ),
    "matrices swapped": Cause(
        lambda about: f"{listed([SYMBOLS[each] for each in about.split()])} were exchanged",
        "{letter}, {other} = x @ w_{other}.T, x @ w_{letter}.T",
        "{letter}, {other} = x @ w_{letter}.T, x @ w_{other}.T",
    ),
    "transposed": Cause(_of("used transposed"), "{product} = {of} @ w_{part}", "{product} = {of} @ w_{part}.T"),
    "fused matrix cut otherwise": Cause(
        _of_a_cut,
        "{read}",
        "{lies}",
    ),
    "bias forgotten": Cause(_of("not added"), "{product} = {of} @ w_{part}.T", _PROJECTED),
    "bias added twice": Cause(_of("added twice"), f"{_PROJECTED} + b_{{part}}", _PROJECTED),
    "heads split without transposing": Cause(
        _of("cut into heads without transposing"), "{letter} = {letter}.view(n, n_heads, t, d_k)", _SPLIT
    ),
    "heads interleaved": Cause(
        _of("cut into heads that take turns, one dimension each"),
        "{letter} = {letter}.view(n, t, d_k, n_heads).permute(0, 3, 1, 2)",
        _SPLIT,
    ),
    "heads joined without transposing": Cause(
        _plain("the heads were joined without transposing"), "out = heads.reshape(n, t, d_model)", _JOINED
    ),
    "heads joined in another order": Cause(
        _plain("the heads were joined so that they take turns, one dimension each"),
        "out = heads.permute(0, 2, 3, 1).reshape(n, t, d_model)",
        _JOINED,
    ),
    "heads in another order": Cause(
        lambda about: f"the heads were in another order: {listed(about.split())}",
        "heads = heads[:, order]",
        "heads = heads",
    ),
    "groups tiled": Cause(
        _of("tiled, where each group belongs to heads in a row"),
        "{letter} = {letter}.repeat(1, n_heads // n_groups, 1, 1)",
        "{letter} = {letter}.repeat_interleave(n_heads // n_groups, dim=1)",
    ),
    "norm left out": Cause(
        lambda about: f"the norm {_NORMS[about]} was left out", "q, k, v = project(x)", "q, k, v = project(norm(x))"
    ),
    "another norm": Cause(_plain("the norm was a {}"), "norm = nn.{about}(d_model)", "norm = the model's own"),
    "gain left out": Cause(_plain("the norm's gain was left out"), "y = x * rsqrt", "y = x * rsqrt * gain"),
    "gain with 1 added": Cause(
        _plain("1 was added to the norm's gain"),
        "y = x * rsqrt * (1 + gain)",
        "y = x * rsqrt * gain",
        "Gemma's gains are used so.",
    ),
    "gain without the 1": Cause(
        _plain("the norm's gain was used without the 1 that is added to it"),
        "y = x * rsqrt * gain",
        "y = x * rsqrt * (1 + gain)",
    ),
    "another epsilon": Cause(_plain("the norm's epsilon was {}"), "norm.eps = {about}", "norm.eps = config.norm_eps"),
    "w_o left out": Cause(_plain("W_O was left out"), _JOINED, f"{_JOINED} @ w_o.T"),
    "residual added": Cause(_plain("x was added to the output already"), "return x + out", "return out"),
    "residual left out": Cause(_plain("what entered was not added (residual)"), "x = out", "x = x + out"),
    "another activation": Cause(_plain("the activation was {}"), "x = {activation}", "x = self.activation(x)"),
}
"""By their ids."""
