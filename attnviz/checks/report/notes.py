"""Notes: how the arrays were read, what the search left out, and questions for the user."""

import re
from collections.abc import Iterator

import numpy as np

from attnviz.checks.explain.explanation import Explanation
from attnviz.checks.passes.nodes import FULLY_MASKED
from attnviz.checks.passes.rope_variants import RopeVariant
from attnviz.checks.read.labels import shortened, title
from attnviz.checks.read.layouts import BY_HEADS, IN_OUT, JOINED, OUT_IN, PROJECTIONS, score_stages, stages_after_scores
from attnviz.checks.read.masks import MaskReading, UserMask, alibi_slopes, are_slopes, distances_back, seen_in
from attnviz.checks.read.names import is_by_heads, is_rotation_table, named
from attnviz.checks.read.user_arrays import ZERO_KEY, UserArrays
from attnviz.checks.read.user_tables import OF_QUERIES
from attnviz.core.operations.scores import slopes
from attnviz.explain.wording import counted, listed

_OTHER_SCALE = "wrong scale"
_NORM = re.compile(
    r"(?:.*[./])?(?:ln_?1|input_layernorm|attention_norm|attn_norm|norm_?1|pre_norm)[./](?:weight|scale|w)"
)
_MATRIX = re.compile(r".*(?:proj|weight|kernel|dense|qkv).*", re.IGNORECASE)
_HALVES = re.compile(r"(?:.*[./])?q_proj[./]weight")
_ENCODER = re.compile(r"(?:^|[./])encoder[./]")
_NEIGHBOURS = re.compile(r"(?:.*[./])?wq[./]weight")


def questions(explanation: Explanation) -> Iterator[str]:
    """Questions that the names of arrays raise and their numbers don't answer."""
    yield from _mask_questions(explanation)
    yield from _rotation_questions(explanation)
    yield from _step_questions(explanation)
    yield from _cosine_questions(explanation)
    yield from _rounding_questions(explanation)
    yield from _matrix_questions(explanation)
    yield from _questions_of_a_difference(explanation)


def _is_for_halves(explanation: Explanation) -> bool:
    """Whether W_Q is called as in models that rotate halves."""
    w_q = explanation.arrays.get("w_q")
    return w_q is not None and bool(_HALVES.fullmatch(w_q.name))


def _tables(explanation: Explanation) -> str:
    """The user's tables, listed."""
    return listed([shortened(each) for each in explanation.tables.names])


def _mask_questions(explanation: Explanation) -> Iterator[str]:
    diagnosis, reading = explanation.diagnosis, explanation.diagnosis.candidate.reading
    mask = diagnosis.unconventional_mask or (reading and reading.mask)
    for each in mask.chosen if mask else ():
        if each.contradicts:
            meaning = f"mean a {each.true_is} key, unlike in {each.contradicts}"
            yield f'Does True in your {shortened(each.name)} {meaning}? If so, say true_is="{each.true_is}".'
    if diagnosis.first_difference is None and reading and reading.mask:
        may_write = not any(_ENCODER.search(each.name) for each in explanation.arrays.values())
        yield from _questions_of_mask(reading.mask, diagnosis.candidate.sizes["h"], may_write)


def _rotation_questions(explanation: Explanation) -> Iterator[str]:
    """Which pairs are meant, by the name of W_Q or by a table."""
    candidate, arrays = explanation.diagnosis.candidate, explanation.arrays
    rotation, table = candidate.rotated_by, candidate.reading.table if candidate.reading else None
    if rotation and "w_q" in arrays:
        name = arrays["w_q"].name
        if _HALVES.fullmatch(name) and rotation.pairs == "neighbours":
            models = "Llama, Qwen, Mistral and Gemma, and for neighbours in GPT-J and Cohere"
            yield f"Weights called {shortened(name)} are for pairs in halves in {models}: which is yours?"
        elif _NEIGHBOURS.fullmatch(name) and rotation.pairs == "halves":
            yield f"Weights called {shortened(name)} are for pairs of neighbours in Meta's own Llama: is it yours?"
    if table and table.table.repeats not in (None, table.pairs):
        repeats = "in halves" if table.table.repeats == "halves" else "of neighbours"
        turned = f"{table.pairs} are rotated, as in GLM: right?"
        yield f"Your {_tables(explanation)} repeat angles for pairs {repeats}, and {turned}"
    elif table and table.pairs != explanation.tables.usual_pairs(table.table) and not _is_for_halves(explanation):
        turned = f"{table.pairs}, as in few models, were turned: right?"
        yield f"Your {_tables(explanation)} may be for halves or neighbours, and {turned}"


def _cosine_questions(explanation: Explanation) -> Iterator[str]:
    """Whether a scale is meant where queries and keys have the length 1."""
    reading = explanation.diagnosis.candidate.reading
    if reading and reading.has_fitted_scale:
        yield f"Are your cosines multiplied by {reading.config.scale:.6g}? It fits, and no scale was in the file."
    elif reading and reading.is_of_cosines and not reading.config.scale and not explanation.diagnosis.first_difference:
        yield "Your queries and keys have the length 1, and scores are divided by √d_k: is it meant so?"


def _rounding_questions(explanation: Explanation) -> Iterator[str]:
    """Whether a pass agrees only as each term of a sum was rounded."""
    diagnosis = explanation.diagnosis
    if diagnosis.first_difference is None and diagnosis.precision.rounds_sums:
        far = max(diagnosis.stages, key=lambda stage: stage.roundings)
        off = f"{title(far.stage)} differs by up to {far.off:.3g}, of {_largest(far.expected):.3g}"
        name = diagnosis.precision.name
        yield (
            f"This agrees only if each term of a sum was rounded to {name}, which libraries don't do ({off}): is a "
            "small mistake left, such as in the scale or the positions? Compare in float32."
        )


def _matrix_questions(explanation: Explanation) -> Iterator[str]:
    """Whether an unread matrix is W_O, and how a fused one is cut."""
    arrays, matrix = explanation.arrays, next(filter(_MATRIX.fullmatch, explanation.unread), None)
    if matrix and not explanation.reference and "output" in explanation.not_recomputed and "w_o" not in arrays:
        output = shortened(arrays["output"].name)
        why = f"It was not read, and so your {output} was compared with nothing."
        yield f"Is your {shortened(matrix)} W_O, which makes your {output}? {why}"
    if "w_q" not in arrays:
        return
    name, is_by_group = arrays["w_q"].name, arrays["w_q"].orientation == BY_HEADS
    if is_by_heads(name) and not is_by_group and explanation.diagnosis.candidate.sizes["h"] > 1:
        yield (
            f"Your {shortened(name)} was read as all queries, then all keys, then all values. In GPT-NeoX, BLOOM and "
            "Falcon, which call it so, each head has its own beside each other: is yours of one of these?"
        )
    if is_by_group and not is_by_heads(name):
        yield (
            f"Your {shortened(name)} was read as each head's own queries, keys and values beside each other. In GPT-2, "
            "Phi-3, timm and most others all queries come first: does your code cut it by heads on purpose?"
        )


def _questions_of_a_difference(explanation: Explanation) -> Iterator[str]:
    """Whether something unread explains what no mistake does."""
    diagnosis, arrays, unread = explanation.diagnosis, explanation.arrays, explanation.unread
    first, reading = diagnosis.first_difference, diagnosis.candidate.reading
    is_unscaled = all(each.id == _OTHER_SCALE for each in diagnosis.mistakes)
    name, *others = (shortened(each) for each in explanation.tables.names or ("",))
    has_angles = reading and reading.table and not others and not re.search("cis|complex", name, re.IGNORECASE)
    if first and has_angles and is_unscaled:
        yield (
            f"Your {name} tells angles alone: does your code multiply cosines and sines by a factor, as YaRN's "
            "attention_factor? Then these numbers may be right: give your cos and sin."
        )
    if first is None or first.shapes or diagnosis.explains_all or explanation.reference:
        return
    matrix = next(filter(_MATRIX.fullmatch, unread), None)
    if matrix and "x" in arrays and arrays.keys().isdisjoint((*PROJECTIONS, *"qkv")):
        why = "No matrix of a known name makes queries, keys or values, so x itself was read as all three"
        yield f"{why}: what is your {shortened(matrix)}?"
        return
    if norm := next(filter(_NORM.fullmatch, unread), None):
        yield f"Your {shortened(norm)} was not read: is your x what this norm makes?"
    elif "x" in arrays and arrays["x"].name.endswith("resid_pre"):
        yield f"Your {shortened(arrays['x'].name)} was read as x: does a norm come before the queries and keys?"
    is_affected = first.stage in ("q", "k", *score_stages(), *stages_after_scores())
    is_unrotated = diagnosis.candidate.rotated_by is None and not any(map(is_rotation_table, unread))
    if is_unrotated and _is_for_halves(explanation) and is_affected:
        rotate = "models that rotate queries and keys by their positions: does yours?"
        yield f"Weights called {shortened(arrays['w_q'].name)} are often of {rotate}"
    if {each.stage for each in diagnosis.stages} == {"output"}:
        yield "Only an output was compared, which many mistakes may change: can you give the attention, too?"


def _questions_of_mask(mask: MaskReading, n_heads: int, may_write: bool) -> Iterator[str]:
    """Questions on a mask with which all agree; `may_write` says whether the model may be one that writes text."""
    for each in mask.chosen:
        visible = each.value ^ (each.true_is == "hidden")
        shows_less = visible.mean() < 0.5 and (~visible).any(axis=-1).all()
        if shows_less and not (each.convention and each.convention.true_is == "visible") and _is_padding(visible):
            meaning, other = each.true_is, "visible" if each.true_is == "hidden" else "hidden"
            name = shortened(each.name)
            yield f"Does True in your {name} mean a {meaning} key? If it means a {other} one, the mask is inverted."
    seen = seen_in(mask.value)
    is_of_padding = _is_padding(seen)
    sees_itself = (seen & (distances_back(*seen.shape[-2:]) == 0)).any(axis=-1)
    if mask.inferred == "zeros" and not is_of_padding and (seen.any(axis=-1) & ~sees_itself).any():
        yield "Are the keys with a share of 0 those that should be hidden? Give the mask, as it was not compared."
    steepness = alibi_slopes(mask.value, n_heads)
    if steepness is not None and not mask.inferred.startswith("ALiBi") and not are_slopes(steepness, n_heads):
        theirs, papers = (", ".join(f"{each:.3g}" for each in some[:4]) for some in (steepness, slopes(n_heads)))
        yield f"Your bias falls by {theirs} ... a token, and ALiBi's of {n_heads} heads by {papers} ...: is it ALiBi's?"
    has_biases = mask.value.dtype != bool and bool(mask.value[seen].any())
    if may_write and has_biases and seen.all() and mask.value.shape[-2] > 1:
        yield f"{_SEES_ALL} under a bias of positions. {_WRITES}"


_SEES_ALL = "In your attention every query sees every key"
_WRITES = "A model that writes text hides later keys: is yours one?"


def _step_questions(explanation: Explanation) -> Iterator[str]:
    """Questions on a decode step that agrees, and on queries and keys that may be rotated already."""
    diagnosis, tables = explanation.diagnosis, _tables(explanation)
    reading, rotation = diagnosis.candidate.reading, diagnosis.candidate.rotated_by
    if reading is None or diagnosis.first_difference:
        return
    n_kept = reading.sizes.get("s", 0) - reading.sizes.get("t", 0)
    is_slice = explanation.tables.position_name == OF_QUERIES
    is_step = n_kept > 0 and not is_slice and ("p" in reading.sizes or reading.positions is not None)
    if tables and not reading.table and reading.begins_with_queries:
        yield f"Your queries and keys were read as rotated by your {tables} already: are they?"
    elif is_step and not rotation and _is_for_halves(explanation) and "b_q" not in explanation.arrays:  # not OPT
        yield "In this decode step nothing was rotated by positions (RoPE), or by position 0 alone: should it be?"
    elif is_step and reading.table and len(reading.table.table.numbers) == 1 and reading.table.table.begins_at_0:
        kept = counted(n_kept, "token")
        yield f"Your {tables} are those of position 0, after {kept} in the cache: do your positions begin again?"
    elif rotation is None and _is_like_llama(explanation.arrays) and reading.sizes.get("t", 1) > 1:
        if {each.stage for each in diagnosis.stages}.isdisjoint((*score_stages(), *stages_after_scores())):
            return
        w_q = shortened(explanation.arrays["w_q"].name)
        yield f"Nothing was rotated by positions, and most models with {w_q} and no biases do so (RoPE): does yours?"


def _is_like_llama(arrays: UserArrays) -> bool:
    """Whether the names are those of Llama and its kin, unlike those of OPT, BART and GPT-Neo."""
    if not arrays.keys() >= {"x", "w_q", "w_k", "w_o"} or "b_q" in arrays:
        return False
    names = (("x", r"hidden_states"), ("w_q", r"q_proj[./]weight"), ("w_o", r"o_proj[./]weight"))
    return all(re.fullmatch(rf"(?:.*[./])?{pattern}", arrays[stage].name) for stage, pattern in names)


def _largest(array: np.ndarray | None) -> float:
    return 0.0 if array is None else float(np.abs(array[np.isfinite(array)]).max(initial=0))


_ORIENTED = (
    (OUT_IN, f"is {OUT_IN}: read transposed", f"are {OUT_IN}: read transposed"),
    (IN_OUT, f"is {IN_OUT}: read as it stands", f"are {IN_OUT}: read as they stand"),
)
_INFERRED = {  # what hides keys, or is added to scores, beyond the masks of the file
    "causal": "Your attention is causal; {lacks}.",
    "zeros": "Your attention hides keys; {lacks}: those with a share of 0 were taken as hidden.",
    "window": "Your attention is causal, with a sliding window of {size} keys; {lacks}.",
    "window on both sides": "Your attention has a sliding window, of keys fewer than {size} positions away; {lacks}.",
    "ALiBi": "ALiBi's bias is added to your scores; {lacks}.",
    "ALiBi, causal": "Your attention is causal, and ALiBi's bias is added to its scores; {lacks}.",
}


def how_read(explanation: Explanation) -> Iterator[str]:
    """A sentence on each array that was read in another way than attnviz lays it out."""
    diagnosis, layouts, arrays = explanation.diagnosis, explanation.layouts, explanation.arrays
    reading, sizes, rotation = diagnosis.candidate.reading, diagnosis.candidate.sizes, diagnosis.candidate.rotated_by
    for oriented, is_read, are_read in _ORIENTED:
        matrices = [stage for stage, layout in layouts.items() if layout.title == oriented]
        names = [title(each) for each in matrices if each != "w_o"]
        names += [title("w_o")] if "w_o" in matrices and oriented == OUT_IN else []
        if names:
            yield f"Your {listed(names)} {are_read if names[1:] else is_read}."
    others: dict[str, list[str]] = {}
    for stage, layout in layouts.items():
        if layout.title not in ("", OUT_IN, IN_OUT, JOINED) and not (layout.is_averaged and sizes["h"] == 1):
            others.setdefault(layout.title, []).append(title(stage))
    yield from (f"Your {listed(names)}: {how}." for how, names in others.items())
    yield from dict.fromkeys(each.note for each in arrays.values() if each.note)
    mask = reading.mask if reading else None
    if mask:
        yield from map(_meaning_sentence, mask.chosen)
        if mask.inferred:
            lacks = "it isn't in your mask" if mask.wrong else "no mask was in the file"
            yield _INFERRED[mask.inferred].format(lacks=lacks, size=mask.size)
    hides_nothing = not (mask and mask.inferred) and "mask" not in arrays and sizes.get("t", 1) > 1
    if diagnosis.first_difference is None and rotation and hides_nothing:
        yield f"{_SEES_ALL}; no mask was in the file. {_WRITES}"
    if reading and reading.is_of_cosines:
        yield "Your queries and keys were divided by their lengths: scores are cosines, times a factor."
    if reading and reading.config.scale and not reading.has_fitted_scale:
        yield f"Scores are multiplied by {reading.config.scale:.6g}, your scale."
    if reading and reading.adds_to_gains:
        yield "To your gains 1 was added, as Gemma does."
    begins = "; the pass that attnviz shows begins after that" if explanation.starts else ""
    if reading and reading.table and rotation:
        pairs = _pairs_phrase(rotation, sizes["d"])
        yield f"Queries and keys are rotated by your {_tables(explanation)}, {pairs}{begins}."
    elif rotation:
        how = _rotation_clause(rotation, sizes["d"])
        yield f"Your queries and keys are rotated by their positions ({how}){begins}."
    for each in diagnosis.stages:
        if each.agrees and each.stage in ("scaled", "masked") and each.stage not in arrays:
            yield f"Your {shortened(each.name)} are attnviz's {title(each.stage)}."
    if "sinks" in arrays and arrays["sinks"].name == ZERO_KEY:
        how = "the last, whose vectors are 0, as add_zero_attn makes it: it was read as a sink of 0"
        yield f"Your {shortened(arrays['attention'].name)} has one key more than there are tokens, {how}."
    if "w_o" not in arrays and not explanation.reference:
        if "output" in arrays:
            name = shortened(arrays["output"].name)
            yield f"No W_O was in the file, which makes the output. If your {name} comes before W_O, call it heads."
        elif "heads" in arrays and (known := named(arrays["heads"].name)) and known.stage == "output":
            name = shortened(arrays["heads"].name)
            yield f"Your {name} was read as attnviz's head outputs, as no W_O was in the file."
    if diagnosis.fully_masked != FULLY_MASKED[0]:
        yield f"A query that sees no key gets {diagnosis.fully_masked} in your pass, and zeros in attnviz's."


def _meaning_sentence(chosen: UserMask) -> str:
    read = f"True in your {shortened(chosen.name)} was read as a {chosen.true_is} key"
    if chosen.contradicts:
        return f"{read}, against the convention of {chosen.contradicts}."
    if chosen.convention:
        return f"{read}, as in {chosen.convention.library}."
    if chosen.true_is == "visible":
        return f"{read}."
    return (
        f"{read}. PyTorch's nn.MultiheadAttention reads it so; its scaled_dot_product_attention, Keras and Flax read "
        "it as a visible one."
    )


def _rotation_clause(rotation: RopeVariant, d_k: int) -> str:
    """Such as "RoPE, in halves, base 10,000"."""
    base = f"{rotation.base:,.0f}" if rotation.base == round(rotation.base) else f"about {rotation.base:,.1f}"
    divided = "scaled as in Llama 3.1, factor" if rotation.is_llama3 else "angles divided by"
    factor = f", {divided} {rotation.factor:g}" if rotation.factor != 1 else ""
    return f"RoPE, {_pairs_phrase(rotation, d_k)}, base {base}{factor}"


def _pairs_phrase(rotation: RopeVariant, d_k: int) -> str:
    part = f", the first {rotation.n_rotated} of {d_k} dimensions" if rotation.n_rotated < d_k else ""
    return f"{'in halves' if rotation.pairs == 'halves' else 'in pairs of neighbours'}{part}"


def _is_padding(visible: np.ndarray) -> bool:
    """Whether a mask is the same for every query."""
    return visible.ndim < 2 or bool((visible == visible[..., :1, :]).all())
