"""Questions: what somebody's names suggest, and their numbers don't tell."""

from __future__ import annotations

import re

from attnviz.checks.finding import Finding
from attnviz.checks.layouts import BY_HEADS
from attnviz.checks.names import is_by_heads, turns
from attnviz.checks.stages import PROJECTIONS, from_scores_on
from attnviz.checks.wording.words import shortened

_NORM = re.compile(
    r"(?:.*[./])?(?:ln_?1|input_layernorm|attention_norm|attn_norm|norm_?1|pre_norm)[./](?:weight|scale|w)"
)
_MATRIX = re.compile(r".*(?:proj|weight|kernel|dense|qkv).*", re.IGNORECASE)
_HALVES = re.compile(r"(?:.*[./])?q_proj[./]weight")
_NEIGHBOURS = re.compile(r"(?:.*[./])?wq[./]weight")


def questions(finding: Finding) -> list[str]:
    """A sentence for each."""
    diagnosis = finding.diagnosis
    sentences = [*_of_meanings(finding), *_of_pairs(finding), *_of_unread(finding), *_of_a_cut(finding)]
    if diagnosis.first is None or diagnosis.first.shapes or diagnosis.explains_all or finding.given:
        return sentences
    weight = next(filter(_MATRIX.fullmatch, finding.unread), None)
    if weight and "x" in finding.own and not {*PROJECTIONS, *"qkv"} & set(finding.own):
        why = "No matrix of a known name makes queries, keys or values, so x itself was read as all three"
        return [*sentences, f"{why}: what is your {shortened(weight)}?"]
    if norm := next(filter(_NORM.fullmatch, finding.unread), None):
        sentences.append(f"Your {shortened(norm)} was not read: is your x what this norm makes?")
    name = finding.own["w_q"].name if "w_q" in finding.own else ""
    if (
        diagnosis.candidate.turned_by is None
        and not any(map(turns, finding.unread))
        and _HALVES.fullmatch(name)
        and diagnosis.first.stage in ("q", "k", *from_scores_on())
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


def _of_meanings(finding: Finding) -> list[str]:
    """Whether True means in a mask what it doesn't in the library whose names are in the file."""
    reading = finding.diagnosis.candidate.reading
    mask = finding.diagnosis.against or (reading and reading.mask)
    return [
        f"Does True in your {shortened(each.name)} mean a {each.meaning} key, unlike in {each.convention.library}? If "
        f'so, say true_is="{each.meaning}".'
        for each in (mask.taken if mask else ())
        if each.is_against
    ]


def _of_unread(finding: Finding) -> list[str]:
    """What was not read, and may well be what makes the output."""
    own, sentences = finding.own, []
    if finding.given:
        return []
    if "output" in finding.not_recomputed and "w_o" not in own:
        matrix = next(filter(_MATRIX.fullmatch, finding.unread), None)
        if matrix:
            output = shortened(own["output"].name)
            sentences.append(
                f"Is your {shortened(matrix)} W_O, which makes your {output}? It was not read, and so your {output} "
                "was compared with nothing."
            )
    return sentences


def _of_a_cut(finding: Finding) -> list[str]:
    """Whether q, k and v in one lie otherwise than in the libraries that call them so."""
    w_q, sizes = finding.own.get("w_q"), finding.diagnosis.candidate.sizes
    if w_q is None or not is_by_heads(w_q.name) or w_q.orientation == BY_HEADS or sizes["h"] == 1:
        return []
    return [
        f"Your {shortened(w_q.name)} was read as all queries, then all keys, then all values. In GPT-NeoX, BLOOM and "
        "Falcon, which call it so, each head has its own beside each other: is yours of one of these?"
    ]


def _of_pairs(finding: Finding) -> list[str]:
    """Whether the pairs that are rotated are those that a name is most often for."""
    rotation, w_q = finding.diagnosis.candidate.turned_by, finding.own.get("w_q")
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
