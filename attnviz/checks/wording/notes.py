"""Notes: what is said of how somebody's arrays were read."""

from __future__ import annotations

from attnviz.checks.arrays import ZERO_KEY
from attnviz.checks.axes import orders_that_fit
from attnviz.checks.finding import Finding
from attnviz.checks.layouts import IN_OUT, JOINED, OUT_IN
from attnviz.checks.masks import MaskReading, TakenMeaning
from attnviz.checks.names import named, turns
from attnviz.checks.rotation import Rotation
from attnviz.checks.stages import stages
from attnviz.checks.unseeing import UNSEEING
from attnviz.checks.wording.words import shortened, title
from attnviz.explain.wording import listed

_UNKNOWN = {
    "normalised": "normalised queries and keys",
    "turned": "every RoPE",
    "biased": "biases of scores that no mask in the file holds",
}

_BESIDES = {
    "causal": "Your attention is causal; {lacks}.",
    "zeros": "Your attention hides keys; {lacks}: those with a share of 0 were taken as hidden.",
    "window": "Your attention is causal, with a sliding window of {size} keys; {lacks}.",
    "window on both sides": "Your attention has a sliding window, of keys fewer than {size} positions away; {lacks}.",
    "ALiBi": "ALiBi's bias is added to your scores; {lacks}.",
    "ALiBi, causal": "Your attention is causal, and ALiBi's bias is added to its scores; {lacks}.",
}

_NOT_CAUSAL = (
    "In your attention every query sees every key; no mask was in the file. A model that writes text hides later keys: "
    "is yours one?"
)


def how_read(finding: Finding) -> list[str]:
    """A sentence on each array that was read otherwise than attnviz has it."""
    diagnosis, layouts, own = finding.diagnosis, finding.layouts, finding.own
    reading = diagnosis.candidate.reading
    one_head = diagnosis.candidate.sizes["h"] == 1
    sentences = []
    for oriented in (OUT_IN, IN_OUT):
        names = [title(stage) for stage, layout in layouts.items() if layout.title == oriented and stage != "w_o"]
        names += [title("w_o")] * (layouts.get("w_o") is not None and layouts["w_o"].title == oriented == OUT_IN)
        if names:
            how = (
                "read transposed"
                if oriented == OUT_IN
                else "read as they stand"
                if len(names) > 1
                else "read as it stands"
            )
            sentences.append(f"Your {listed(names)} {'is' if len(names) == 1 else 'are'} {oriented}: {how}.")
    alike: dict[str, list[str]] = {}
    for stage, layout in layouts.items():
        if layout.title not in ("", OUT_IN, IN_OUT, JOINED) and not (layout.is_averaged and one_head):
            alike.setdefault(layout.title, []).append(title(stage))
    sentences += [f"Your {listed(names)}: {how}." for how, names in alike.items()]
    sentences += _of_masks(reading.mask) if reading and reading.mask else []
    if diagnosis.first is None and diagnosis.candidate.turned_by and _hides_nothing(finding):
        sentences.append(_NOT_CAUSAL)
    if reading and reading.block.scale:
        sentences.append(f"Scores are multiplied by {reading.block.scale:.6g}, your scale.")
    if reading and reading.adds_to_gains:
        sentences.append("To your gains 1 was added, as Gemma does.")
    if rotation := diagnosis.candidate.turned_by:
        how = _of_a_rotation(rotation, diagnosis.candidate.sizes["d"])
        unshown = "" if rotation.operation else ", of which attnviz shows no pass"
        sentences.append(f"Your queries and keys are rotated by their positions ({how}){unshown}.")
    renamed = [
        each
        for each in diagnosis.stages
        if each.agrees and each.stage in ("scaled", "masked") and each.stage not in own
    ]
    sentences += [f"Your {shortened(each.name)} are attnviz's {title(each.stage)}." for each in renamed]
    if "sinks" in own and own["sinks"].name == ZERO_KEY:
        attended = shortened(own["attention"].name)
        sentences.append(
            f"Your {attended} has one key more than there are tokens, the last, whose vectors are 0, as add_zero_attn "
            "makes it: it was read as a sink of 0."
        )
    sentences += _of_an_output(finding)
    if diagnosis.unseeing != UNSEEING[0]:
        sentences.append(f"A query that sees no key gets {diagnosis.unseeing} in your pass, and zeros in attnviz's.")
    return sentences


def unknown(finding: Finding) -> list[str]:
    """Sentences where no mistake explains the numbers: that correct code may do what attnviz doesn't know."""
    diagnosis = finding.diagnosis
    if diagnosis.first and diagnosis.first.shapes:
        return [_of_shapes(diagnosis.first.stage, *diagnosis.first.shapes)]
    if turning := [shortened(each) for each in finding.unread if turns(each)]:
        return [
            f"Your {listed(turning)} {'was' if len(turning) == 1 else 'were'} not read: where your code rotates "
            "queries and keys by them, these numbers may be right."
        ]
    sentences = ["No mistake that attnviz knows of makes these numbers."]
    if diagnosis.within:
        on_the_way = f"If your code computes in {diagnosis.within} on the way"
        return [*sentences, f"{on_the_way}, its rounding may leave as much, which is harmless."]
    if diagnosis.may_be_turned and "turned" in diagnosis.may_be:
        which = {"q": "queries", "k": "keys"}.get(diagnosis.first.stage, "queries and keys")
        sentences.append(
            f"Your {which} may be rotated by their positions (RoPE): lengths agree, directions don't. Attnviz doesn't "
            "know this rotation."
        )
    elif diagnosis.wrong_sum:
        (*head, query), total = diagnosis.wrong_sum
        of_head = "".join(f" of head {each + 1}" for each in head)
        sentences.append(f"Row {query + 1}{of_head} of your attention adds up to {_signed(total)}, not to 1.")
    elif diagnosis.may_be:
        *most, last = (_UNKNOWN[each] for each in diagnosis.may_be)
        names = f"{', '.join(most)} or {last}" if most else last
        sentences.append(f"They may be right all the same: attnviz doesn't know {names}.")
    return sentences


def _of_shapes(stage: str, yours: tuple[int, ...], ours: tuple[int, ...]) -> str:
    """What the shape of an array tells of its axes, where no layout has it."""
    expected = f"({', '.join(stages()[stage])})"
    orders = orders_that_fit(stage, yours, ours)
    if len(orders) == 1:
        return f"The axes of {title(stage)} seem to be {orders[0]}; expected {expected}."
    if orders:
        return f"Are the axes of {title(stage)} {' or '.join(orders)}? They should be {expected}."
    if stages()[stage][-1] == "key" and yours[-2:-1] == ours[-2:-1] and yours[-1] > ours[-1]:
        return (
            f"There are more keys than tokens, by {yours[-1] - ours[-1]}. nn.MultiheadAttention adds one by "
            "add_zero_attn or add_bias_kv, and a cache keeps those of earlier tokens: give them as the context, or "
            "leave them out."
        )
    return "Check which axis of it counts what."


def _signed(number: float) -> str:
    return f"{number:.4g}".replace("-", "−")


def _of_a_rotation(rotation: Rotation, d_k: int) -> str:
    pairs = "in halves" if rotation.is_in_halves else "in pairs of neighbours"
    some = f", the first {rotation.n_turned} of {d_k} dimensions" * (rotation.n_turned < d_k)
    base = f"{rotation.base:,.0f}" if rotation.base == round(rotation.base) else f"about {rotation.base:,.1f}"
    slower = f"angles divided by {rotation.factor:g}" if not rotation.is_llama3 else "scaled as in Llama 3.1"
    by = f", factor {rotation.factor:g}" * rotation.is_llama3
    return f"RoPE, {pairs}{some}, base {base}" + f", {slower}{by}" * (rotation.factor != 1)


def _of_an_output(finding: Finding) -> list[str]:
    """Sentences on an output without a W_O that makes it."""
    own = finding.own
    if "w_o" in own or finding.given:
        return []
    if "output" in own:
        name = shortened(own["output"].name)
        return [f"No W_O was in the file, which makes the output. If your {name} comes before W_O, call it heads."]
    if "heads" in own and named(own["heads"].name).stage == "output":
        return [f"Your {shortened(own['heads'].name)} was read as attnviz's head outputs, as no W_O was in the file."]
    return []


def _hides_nothing(finding: Finding) -> bool:
    """Whether several queries see every key, and no mask in the file says so."""
    reading = finding.diagnosis.candidate.reading
    besides = bool(reading and reading.mask and reading.mask.besides)
    return not besides and "mask" not in finding.own and finding.diagnosis.candidate.sizes.get("t", 1) > 1


def _of_a_meaning(taken: TakenMeaning) -> str:
    """What True was taken to mean in a mask, and what libraries take it for."""
    read = f"True in your {shortened(taken.name)} was read as a {taken.meaning} key"
    if taken.is_against:
        return f"{read}, against the convention of {taken.convention.library}."
    if taken.convention:
        return f"{read}, as in {taken.convention.library}."
    if taken.meaning == "visible":
        return f"{read}."
    return (
        f"{read}. PyTorch's nn.MultiheadAttention reads it so; its scaled_dot_product_attention, Keras and Flax read "
        "it as a visible one."
    )


def _of_masks(mask: MaskReading) -> list[str]:
    """Sentences on the masks, and on keys that are hidden besides."""
    sentences = [_of_a_meaning(each) for each in mask.taken]
    if mask.besides:
        lacks = "it isn't in your mask" if mask.others else "no mask was in the file"
        sentences.append(_BESIDES[mask.besides].format(lacks=lacks, size=mask.size))
    return sentences
