"""Masking: masks that hide other keys, or hide them otherwise, in words and code."""

from __future__ import annotations

from attnviz.checks.wording.causes.cause import HIDDEN, SOFTMAX, Cause, of_a_mask, plain

CAUSES: dict[str, Cause] = {
    "mask inverted": Cause(
        of_a_mask("was applied the other way round"), "scores = scores.masked_fill(mask, -torch.inf)", HIDDEN
    ),
    "mask not applied": Cause(of_a_mask("was not applied"), SOFTMAX, f"{HIDDEN}; {SOFTMAX}"),
    "mask multiplied": Cause(
        plain("the scores were multiplied by the mask, so that a hidden key kept a score of 0"),
        "scores = scores * mask",
        HIDDEN,
    ),
    "mask off by one": Cause(
        plain("the mask reached one key too far, so that a query saw the key after those it may see"),
        "mask = torch.ones(t, t).tril(1).bool()",
        "mask = torch.ones(t, t).tril().bool()",
    ),
    "mask hides the token itself": Cause(
        plain("the mask ended one key too early, so that a query didn't see the last key that it may see"),
        "mask = torch.ones(t, t).tril(-1).bool()",
        "mask = torch.ones(t, t).tril().bool()",
    ),
    "mask transposed": Cause(
        plain("the mask was used transposed, with queries and keys exchanged"),
        "scores = scores.masked_fill(~mask.T, -torch.inf)",
        HIDDEN,
    ),
    "mask of the other corner": Cause(
        plain("the causal mask began in the other corner, as there are more keys than queries or fewer"),
        "mask = torch.ones(n_queries, n_keys).tril().bool()",
        "mask = torch.ones(n_queries, n_keys).tril(n_keys - n_queries).bool()",
    ),
    "mask of another layer": Cause(
        plain("the mask was that of layer {}"),
        "scores = scores.masked_fill(~masks[{about}], -torch.inf)",
        "scores = scores.masked_fill(~masks[layer], -torch.inf)",
    ),
    "mask added as 0 and 1": Cause(
        plain("the mask was added to the scores as 0 and 1"),
        "scores = scores + mask",
        HIDDEN,
    ),
    "mask added where it hides": Cause(
        of_a_mask("was added to the scores as it is, so that the score of a hidden key rose by 1"),
        "scores = scores + ~mask",
        HIDDEN,
    ),
    "mask with a finite number": Cause(
        plain("hidden scores were set to {}, not to −∞, so that hidden keys kept a share"),
        "scores = scores.masked_fill(~mask, {about})",
        HIDDEN,
    ),
    "mask adds a finite number": Cause(
        plain("{} was added to hidden scores, not −∞, so that hidden keys kept a share"),
        "scores = scores + (~mask) * {about}",
        HIDDEN,
    ),
    "mask after the softmax": Cause(
        plain("the mask was applied after the softmax, so that rows no longer add up to 1"),
        f"{SOFTMAX} * mask",
        f"{HIDDEN}; {SOFTMAX}",
    ),
}
