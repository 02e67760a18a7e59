"""Rotation: queries and keys are turned by their positions."""

from attnviz.core.numerals import digits
from attnviz.core.stage import split_layer
from attnviz.core.trace import Trace
from attnviz.explain.step import Entries, Entry, Role, Section, Step, Term, either
from attnviz.explain.story import SUM, Story, computed_from, has, lacks
from attnviz.explain.wording import listed


def _pairs(trace: Trace, entries: Entries) -> str:
    rotation = trace["q_rotated"].operation
    half = rotation.dims // 2
    if not half:
        return "Here a query is one number, which has no other to be a pair with: it stays."
    how = {
        "neighbours": "Neighbours are a pair: dimensions 1 and 2, 3 and 4, and so on, as in Llama’s own code",
        "halves": f"Dimensions 1 and {half + 1} are a pair, 2 and {half + 2}, and so on, as Hugging Face has them",
    }[rotation.pairs]
    if half == 1:
        how = f"Dimensions 1 and 2 are the one pair{' that is turned' * _is_partial(trace)}"
        return f"{how}; it turns by 1 for each position."
    others = [f"{other} in layer{'s' * (len(each) > 1)} {listed(each)}" for other, each in _other_bases(trace).items()]
    elsewhere = f" here, and {listed(others)}" if others else ""
    base, slowest = f"{rotation.base:,.12g}", digits(rotation.base ** (2 / rotation.dims - 1))
    return f"{how}; pair 1 turns by 1 for each position, pair {half} by {slowest}, as the base is {base}{elsewhere}."


def _is_partial(trace: Trace) -> bool:
    rotated = trace["q_rotated"]
    return rotated.operation.dims < rotated.shape[-1]


def _other_bases(trace: Trace) -> dict[str, list[str]]:
    layers: dict[str, list[str]] = {}
    for stage in trace.stages:
        name, layer = split_layer(stage.name)
        if name == "q_rotated" and layer and stage.operation.base != trace["q_rotated"].operation.base:
            layers.setdefault(f"{stage.operation.base:,.12g}", []).append(str(layer))
    return layers


def _partial(trace: Trace, entries: Entries) -> str:
    rotated = trace["q_rotated"]
    of = f"{rotated.operation.dims} of {rotated.shape[-1]} dimensions{' for positions' * ('q_r' in trace)}"
    return f"Only the first {of} are turned; the others don’t know the position."


def _stories(role: Role, one: str) -> tuple[Story, ...]:
    turned = f"In dimension {{column}} of the {one} of “{{row}}”, the rotation makes {{value}} of"
    return tuple(
        Story(
            f"{turned} {{{source}}} and of the other number of its pair.", of=computed_from(f"{role}_rotated", source)
        )
        for source in (f"{role}_normed", f"{role}_r", role)
    )


ROTATION = Step(
    id="rotation",
    title="RoPE",
    heading="Queries and keys are turned by their positions",
    why=either(
        has("q_r"),
        "A dot product stays as it is if both vectors turn by the same angle. With the parts for positions turned, "
        "their score depends on how far apart two {unit}s are, and that of content on no position.",
        "A dot product stays as it is if both vectors turn by the same angle. With each turned by its position, "
        "what the turned dimensions add to a score depends on how far apart two {unit}s are, and not on where they "
        "stand.",
    ),
    text=(
        Section(
            "pairs",
            "**RoPE** takes the dimensions of each :blue[query] and :orange[key] in pairs, and turns each pair by an "
            "angle, the position times a speed; values stay as they are.",
            lacks("q_r"),
        ),
        Section(
            "pairs apart",
            "**RoPE** takes the dimensions of each :blue[query]’s and :orange[key]’s part for positions in pairs, and "
            "turns each pair by an angle, the position times a speed.",
            has("q_r"),
        ),
        Section("which", _pairs),
        Section("partial", _partial, _is_partial),
    ),
    stages=("q_rotated", "k_rotated"),
    entries={
        "q_rotated": Entry(
            "Q^R_i", "Rotated queries", "the queries, turned by their positions", "q", one="rotated query"
        ),
        "k_rotated": Entry("K^R_i", "Rotated keys", "the keys, turned by their positions", "k", one="rotated key"),
    },
    stories={"q_rotated": _stories("q", "query"), "k_rotated": _stories("k", "key")},
    band_texts={
        "q_rotated row": ("**Turned** by the position of “{word}”: {story}", SUM),
        "k_rotated row": ("**Turned** by the position of “{key}”: {story}", SUM),
    },
    terms=(
        Term(
            "RoPE",
            r"\bRoPE\b|\brotat(?:ed|ion)\b",
            "Turns queries and keys by their positions, pair by pair, so that scores depend on distances.",
            (
                "Here {q_rotated} is made of {q_r}.",
                "Here {q_rotated} is made of {q_normed}.",
                "Here {q_rotated} is made of {q}.",
            ),
            "Rotation",
        ),
    ),
)
