"""Notes: how the arrays were read, what the search left out, and questions for the user."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attnviz.checks.explain.axis_orders import orders_that_fit
from attnviz.checks.explain.diagnosis import SkippedCheck
from attnviz.checks.explain.explanation import Explanation
from attnviz.checks.explain.nodes import FULLY_MASKED
from attnviz.checks.explain.pass_search import MAX_CANDIDATES, MAX_SEARCHED
from attnviz.checks.explain.rotation import Rotation
from attnviz.checks.read.arrays import ZERO_KEY
from attnviz.checks.read.layouts import BY_HEADS, IN_OUT, JOINED, OUT_IN
from attnviz.checks.read.masks import MaskReading, TakenMeaning
from attnviz.checks.read.names import is_by_heads, is_rotation_table, named
from attnviz.checks.read.stages import PROJECTIONS, stages, stages_from_scores
from attnviz.checks.report.words import shortened, title
from attnviz.explain.wording import listed

_NORM = re.compile(
    r"(?:.*[./])?(?:ln_?1|input_layernorm|attention_norm|attn_norm|norm_?1|pre_norm)[./](?:weight|scale|w)"
)
_MATRIX = re.compile(r".*(?:proj|weight|kernel|dense|qkv).*", re.IGNORECASE)
_HALVES = re.compile(r"(?:.*[./])?q_proj[./]weight")
_NEIGHBOURS = re.compile(r"(?:.*[./])?wq[./]weight")


def questions(explanation: Explanation) -> list[str]:
    """Questions that the names of arrays raise and their numbers don't answer."""
    diagnosis = explanation.diagnosis
    sentences = [
        *_meaning_questions(explanation),
        *_pair_questions(explanation),
        *_unread_questions(explanation),
        *_cut_questions(explanation),
    ]
    if diagnosis.first is None or diagnosis.first.shapes or diagnosis.explains_all or explanation.given:
        return sentences
    weight = next(filter(_MATRIX.fullmatch, explanation.unread), None)
    if weight and "x" in explanation.own and not {*PROJECTIONS, *"qkv"} & set(explanation.own):
        why = "No matrix of a known name makes queries, keys or values, so x itself was read as all three"
        return [*sentences, f"{why}: what is your {shortened(weight)}?"]
    if norm := next(filter(_NORM.fullmatch, explanation.unread), None):
        sentences.append(f"Your {shortened(norm)} was not read: is your x what this norm makes?")
    name = explanation.own["w_q"].name if "w_q" in explanation.own else ""
    if (
        diagnosis.candidate.rotated_by is None
        and not any(map(is_rotation_table, explanation.unread))
        and _HALVES.fullmatch(name)
        and diagnosis.first.stage in ("q", "k", *stages_from_scores())
    ):
        sentences.append(
            f"Weights called {shortened(name)} are often of models that rotate queries and keys by their positions: "
            "does yours?"
        )
    if {each.stage for each in diagnosis.stages} == {"output"}:
        sentences.append(
            "Only an output was compared, which many mistakes may change: can you give the attention, too?"
        )
    return sentences


def _meaning_questions(explanation: Explanation) -> list[str]:
    """Ask if True in a mask really contradicts its library's convention."""
    reading = explanation.diagnosis.candidate.reading
    mask = explanation.diagnosis.against or (reading and reading.mask)
    return [
        f"Does True in your {shortened(each.name)} mean a {each.meaning} key, unlike in {each.convention.library}? If "
        f'so, say true_is="{each.meaning}".'
        for each in (mask.taken if mask else ())
        if each.is_against
    ]


def _unread_questions(explanation: Explanation) -> list[str]:
    """Ask if an unknown array is W_O."""
    own, sentences = explanation.own, []
    if explanation.given:
        return []
    if "output" in explanation.not_recomputed and "w_o" not in own:
        matrix = next(filter(_MATRIX.fullmatch, explanation.unread), None)
        if matrix:
            output = shortened(own["output"].name)
            sentences.append(
                f"Is your {shortened(matrix)} W_O, which makes your {output}? It was not read, and so your {output} "
                "was compared with nothing."
            )
    return sentences


def _cut_questions(explanation: Explanation) -> list[str]:
    """Ask if a fused matrix is interleaved by heads, as in the libraries that use its name."""
    w_q, sizes = explanation.own.get("w_q"), explanation.diagnosis.candidate.sizes
    if w_q is None or not is_by_heads(w_q.name) or w_q.orientation == BY_HEADS or sizes["h"] == 1:
        return []
    return [
        f"Your {shortened(w_q.name)} was read as all queries, then all keys, then all values. In GPT-NeoX, BLOOM and "
        "Falcon, which call it so, each head has its own beside each other: is yours of one of these?"
    ]


def _pair_questions(explanation: Explanation) -> list[str]:
    """Ask if the rotation's pairs are the usual ones for the name of W_Q."""
    rotation, w_q = explanation.diagnosis.candidate.rotated_by, explanation.own.get("w_q")
    if rotation is None or w_q is None:
        return []
    if _HALVES.fullmatch(w_q.name) and not rotation.is_in_halves:
        return [
            f"Weights called {shortened(w_q.name)} are for pairs in halves in Llama, Qwen, Mistral and Gemma, and for "
            "neighbours in GPT-J and Cohere: which is yours?"
        ]
    if _NEIGHBOURS.fullmatch(w_q.name) and rotation.is_in_halves:
        return [f"Weights called {shortened(w_q.name)} are for pairs of neighbours in Meta's own Llama: is it yours?"]
    return []


_SKIPPED = {
    SkippedCheck.PAIRS: "two mistakes at once, of which numbers as coarse as yours show too little",
    SkippedCheck.READINGS: f"readings of your arrays after the likeliest {MAX_CANDIDATES}",
    SkippedCheck.BASES: "RoPE with another base than those of known models, as there are so many scores",
    SkippedCheck.ROTATED: f"mistakes in passes rotated otherwise than in the {MAX_SEARCHED} likeliest ways",
    SkippedCheck.REST: "most mistakes and readings, as the arrays are so large: compare fewer heads or tokens",
    SkippedCheck.SIZES: "scales, caps, dropout and orders of heads of any size, which only scores or attention show",
}


def skipped_sentence(skipped_checks: Sequence[SkippedCheck]) -> list[str]:
    """What the search left out, as one sentence; empty if nothing."""
    return [f"Not tried: {'; '.join(_SKIPPED[each] for each in skipped_checks)}."] if skipped_checks else []


_UNKNOWN = {
    "normalised": "normalised queries and keys",
    "rotated": "every RoPE",
    "biased": "biases of scores that no mask in the file holds",
}

_INFERRED = {
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


def how_read(explanation: Explanation) -> list[str]:
    """A sentence on each array that was read in another way than attnviz lays it out."""
    diagnosis, layouts, own = explanation.diagnosis, explanation.layouts, explanation.own
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
    sentences += _mask_sentences(reading.mask) if reading and reading.mask else []
    if diagnosis.first is None and diagnosis.candidate.rotated_by and _hides_nothing(explanation):
        sentences.append(_NOT_CAUSAL)
    if reading and reading.block.scale:
        sentences.append(f"Scores are multiplied by {reading.block.scale:.6g}, your scale.")
    if reading and reading.adds_to_gains:
        sentences.append("To your gains 1 was added, as Gemma does.")
    if rotation := diagnosis.candidate.rotated_by:
        how = _rotation_clause(rotation, diagnosis.candidate.sizes["d"])
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
    sentences += _output_sentences(explanation)
    if diagnosis.fully_masked != FULLY_MASKED[0]:
        sentences.append(
            f"A query that sees no key gets {diagnosis.fully_masked} in your pass, and zeros in attnviz's."
        )
    return sentences


def unexplained(explanation: Explanation) -> list[str]:
    """Sentences for when no mistake explains the numbers: correct code may do what attnviz doesn't know."""
    diagnosis = explanation.diagnosis
    if diagnosis.first and diagnosis.first.shapes:
        return [_shape_sentence(diagnosis.first.stage, *diagnosis.first.shapes)]
    if tables := [shortened(each) for each in explanation.unread if is_rotation_table(each)]:
        return [
            f"Your {listed(tables)} {'was' if len(tables) == 1 else 'were'} not read: where your code rotates "
            "queries and keys by them, these numbers may be right."
        ]
    sentences = ["No mistake that attnviz knows of makes these numbers."]
    if diagnosis.within:
        on_the_way = f"If your code computes in {diagnosis.within} on the way"
        return [*sentences, f"{on_the_way}, its rounding may leave as much, which is harmless."]
    if diagnosis.may_be_rotated and "rotated" in diagnosis.may_be:
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


def _shape_sentence(stage: str, yours: tuple[int, ...], ours: tuple[int, ...]) -> str:
    """What the shape of an array suggests about its axes."""
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


def _rotation_clause(rotation: Rotation, d_k: int) -> str:
    pairs = "in halves" if rotation.is_in_halves else "in pairs of neighbours"
    some = f", the first {rotation.n_rotated} of {d_k} dimensions" * (rotation.n_rotated < d_k)
    base = f"{rotation.base:,.0f}" if rotation.base == round(rotation.base) else f"about {rotation.base:,.1f}"
    slower = f"angles divided by {rotation.factor:g}" if not rotation.is_llama3 else "scaled as in Llama 3.1"
    by = f", factor {rotation.factor:g}" * rotation.is_llama3
    return f"RoPE, {pairs}{some}, base {base}" + f", {slower}{by}" * (rotation.factor != 1)


def _output_sentences(explanation: Explanation) -> list[str]:
    """Sentences on an output without W_O."""
    own = explanation.own
    if "w_o" in own or explanation.given:
        return []
    if "output" in own:
        name = shortened(own["output"].name)
        return [f"No W_O was in the file, which makes the output. If your {name} comes before W_O, call it heads."]
    if "heads" in own and named(own["heads"].name).stage == "output":
        return [f"Your {shortened(own['heads'].name)} was read as attnviz's head outputs, as no W_O was in the file."]
    return []


def _hides_nothing(explanation: Explanation) -> bool:
    """Whether several queries see every key although no mask says so."""
    reading = explanation.diagnosis.candidate.reading
    inferred = bool(reading and reading.mask and reading.mask.inferred)
    return not inferred and "mask" not in explanation.own and explanation.diagnosis.candidate.sizes.get("t", 1) > 1


def _meaning_sentence(taken: TakenMeaning) -> str:
    """The meaning that was chosen for True, and its meaning in libraries."""
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


def _mask_sentences(mask: MaskReading) -> list[str]:
    """Sentences on masks, and on keys that are hidden without one."""
    sentences = [_meaning_sentence(each) for each in mask.taken]
    if mask.inferred:
        lacks = "it isn't in your mask" if mask.others else "no mask was in the file"
        sentences.append(_INFERRED[mask.inferred].format(lacks=lacks, size=mask.size))
    return sentences
