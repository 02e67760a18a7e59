"""Turns: queries and keys that are rotated by their positions, or normed, otherwise, in words and code."""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.checks.wording.causes.cause import Cause, of_letters, of_rows, plain

_TURNED = "q, k = rotate(q, positions), rotate(k, positions)"


def _shift(about: str) -> Mapping[str, str]:
    return {"shift": {"later": "+ 1", "earlier": "- 1"}[about.split()[-1]]}


def _pairs(about: str) -> Mapping[str, str]:
    return {"pairs": "2, d_k // 2" if about.startswith("halves") else "d_k // 2, 2"}


CAUSES: dict[str, Cause] = {
    "rotation left out": Cause(of_rows("not rotated by their positions"), "scores = q @ k.transpose(-2, -1)", _TURNED),
    "rotation of other pairs": Cause(
        plain("the rotation turned other pairs of dimensions: neighbours in the place of halves, or the reverse"),
        "a, b = x[..., 0::2], x[..., 1::2]",
        "a, b = x.chunk(2, dim=-1)",
        "Hugging Face's weights of Llama are for halves, Meta's own for neighbours.",
    ),
    "rotation off by one": Cause(
        of_rows("rotated as if they were one position {}"),
        "positions = torch.arange(t) {shift}",
        "positions = torch.arange(t)",
        slots=_shift,
    ),
    "positions with the padding": Cause(
        plain("positions were counted from the left, with the padding"),
        "positions = torch.arange(t)",
        "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
    ),
    "positions without the padding": Cause(
        plain("positions were counted from the first token that is no padding"),
        "positions = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)",
        "positions = torch.arange(t)",
        "Hugging Face's models do so on purpose where a batch is padded on the left.",
    ),
    "values rotated": Cause(
        plain("the values were rotated by their positions, too"),
        "q, k, v = rotate(q, positions), rotate(k, positions), rotate(v, positions)",
        _TURNED,
    ),
    "rotation twice": Cause(
        of_rows("rotated twice"), "{letter} = rotate(rotate({letter}, positions), positions)", _TURNED, slots=of_letters
    ),
    "kept keys rotated again": Cause(
        plain("the kept keys, which are rotated already, were rotated again"),
        "k = rotate(torch.cat([kept, k], dim=-2), positions)",
        "k = torch.cat([kept, rotate(k, positions[-1:])], dim=-2)",
    ),
    "rotation of another base": Cause(
        lambda about: f"the rotation had a base of {float(about.split()[-1]):,.0f}, not that of the pass",
        "angles = positions / {about} ** (torch.arange(0, d_k, 2) / d_k)",
        "angles = positions / base ** (torch.arange(0, d_k, 2) / d_k)",
    ),
    "rotation of all dimensions": Cause(
        plain("all dimensions were rotated, not the first ones alone"),
        "q = rotate(q, positions)",
        "q = torch.cat([rotate(q[..., :n_rotated], positions), q[..., n_rotated:]], dim=-1)",
    ),
    "rotation the other way": Cause(
        plain("queries and keys were rotated the other way round, by negative angles"),
        "rotate(x): a * cos + b * sin, b * cos - a * sin",
        "rotate(x): a * cos - b * sin, b * cos + a * sin",
    ),
    "rotation before the heads": Cause(
        plain("queries and keys were rotated before they were cut into heads"),
        "q = rotate(q).view(n, t, n_heads, d_k).transpose(1, 2)",
        "q = rotate(q.view(n, t, n_heads, d_k).transpose(1, 2))",
    ),
    "q and k permuted": Cause(
        lambda about: "the dimensions of Q and K were permuted, as weights for pairs of {} are for pairs of {}".format(
            *about.split()
        ),
        "w_q = w_q.view(n_heads, {pairs}, d_model).transpose(1, 2).reshape(-1, d_model)",
        "w_q = w_q",
        slots=_pairs,
    ),
    "norm of queries and keys left out": Cause(
        of_rows("not normed"), "scores = q @ k.transpose(-2, -1)", "q, k = q_norm(q), k_norm(k)"
    ),
    "norm after the rotation": Cause(
        plain("queries and keys were normed after they were rotated, not before"),
        "q = q_norm(rotate(q, positions))",
        "q = rotate(q_norm(q), positions)",
    ),
}
