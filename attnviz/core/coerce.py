"""Which options apply, given the others; and values from an address coerced to the nearest allowed ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from attnviz.core.integer_example import INTEGER_EXAMPLE, INTEGER_OPTIONS, integer_option_rule
from attnviz.core.limits import MAX_LAYERS
from attnviz.core.masks import SIZED, WITHOUT_WINDOW, has_global_layer
from attnviz.core.operations.rotation import PAIRS
from attnviz.core.settings import FREE_OPTIONS, LATENTS, OPTIONS, RULE_OF_PAIRS, divisors, has_pairs, most_layers

NEEDS: dict[str, Mapping[str, Sequence]] = {
    "mask_size": {"mask": SIZED},
    "latent_width": {"sharing": LATENTS},
    "query_latent_width": {"sharing": LATENTS},
    "qk_norm": {"sharing": ("none", "pairs", "all")},
    "rope_base": {"rope": PAIRS},
    "rope_base_global": {"rope": PAIRS},
    "rope_part": {"rope": PAIRS},
    "window_in": {"mask": tuple(WITHOUT_WINDOW), "layers": range(2, MAX_LAYERS + 1)},
}
"""Options that apply only if these others have one of these values."""


def is_applicable(options: Any, name: str) -> bool:
    """Whether an option applies, given the others (attributes of `options`)."""
    if name == "rope":
        return has_pairs(options.d_model, options.n_heads, options.sharing)
    if name == "rope_base_global" and not has_global_layer(options.mask, options.window_in, options.layers):
        return False
    return all(getattr(options, other) in values for other, values in NEEDS.get(name, {}).items())


def allowed(name: str, initialiser: str, d_model: int) -> Sequence[int | str | bool]:
    """The values that an option may have, given these two others."""
    if initialiser == INTEGER_EXAMPLE and name in INTEGER_OPTIONS:
        return INTEGER_OPTIONS[name]
    if name == "layers":
        return range(1, most_layers(d_model) + 1)
    return divisors(d_model) if name == "n_heads" else OPTIONS[name].allowed


def coerce_integer_example(values: Mapping[str, int | str | bool]) -> dict[str, int | str | bool]:
    """The nearest allowed values of options that the initialiser `INTEGER_EXAMPLE`, where chosen, rules out."""
    if values.get("initialiser") != INTEGER_EXAMPLE:
        return {}
    unfit = {
        name: value for name, value in values.items() if name in INTEGER_OPTIONS and value not in INTEGER_OPTIONS[name]
    }
    return {
        name: replace(OPTIONS[name], allowed=INTEGER_OPTIONS[name]).nearest(str(value)) for name, value in unfit.items()
    }


def coerce_rope(values: Mapping[str, int | str | bool]) -> dict[str, str]:
    """RoPE switched off if the other values leave it no pair to rotate."""
    if values.get("rope", "none") == "none":
        return {}
    d_model, n_heads = (int(values.get(each, OPTIONS[each].default)) for each in ("d_model", "n_heads"))
    sharing = str(values.get("sharing", OPTIONS["sharing"].default))
    return {} if has_pairs(d_model, nearest_heads(n_heads, d_model), sharing) else {"rope": "none"}


def nearest(written: Mapping[str, str]) -> tuple[dict[str, int | str], list[str]]:
    """The allowed values nearest to the written ones, and a sentence for each changed value. Sentences are ignored."""
    allowed: dict[str, int | str] = {}
    notices = []
    for name, text in written.items():
        if name in FREE_OPTIONS:
            option = OPTIONS[name]
            allowed[name] = option.nearest(text)
            if str(allowed[name]).lower() != text.strip().lower():
                notices.append(f"{name} is {option.rule.lower()}; got {_shortened(text)}, using {allowed[name]}.")
    d_model = int(allowed.get("d_model", OPTIONS["d_model"].default))
    heads = f"heads is a divisor of d_model: for {d_model} one of {', '.join(map(str, divisors(d_model)))}"
    layers = f"layers is a whole number from 1 to {most_layers(d_model)} for a d_model of {d_model}"
    for name, fit, rule in (("n_heads", nearest_heads, heads), ("layers", nearest_layers, layers)):
        if name in written:
            text = written[name]
            allowed[name] = fit(text, d_model)
            if str(allowed[name]) != text.strip():
                notices.append(f"{rule}; got {_shortened(text)}, using {allowed[name]}.")
    for name, value in coerce_integer_example(allowed).items():
        notices.append(f"{integer_option_rule(name)}; got {_shortened(written[name])}, using {value}.")
        allowed[name] = value
    if off := coerce_rope(allowed):
        notices.append(f"{RULE_OF_PAIRS}; got rope={allowed['rope']}, using rope={off['rope']}.")
    return allowed | off, notices


def nearest_heads(n_heads: int | str, d_model: int) -> int:
    """The divisor of `d_model` nearest to `n_heads`; of two, the smaller."""
    wanted = int(replace(OPTIONS["n_heads"], allowed=range(1, d_model + 1)).nearest(str(n_heads)))
    return min(divisors(d_model), key=lambda n: (abs(n - wanted), n))


def nearest_layers(layers: int | str, d_model: int) -> int:
    """The allowed number of layers nearest to `layers`."""
    return int(replace(OPTIONS["layers"], allowed=range(1, most_layers(d_model) + 1)).nearest(str(layers)))


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
