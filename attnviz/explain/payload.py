"""What the viewer gets of a pass, as the structs of the contract: arrays, stages, steps, and the model."""

import base64
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import UNSET, convert

from attnviz.contract import stages as steps
from attnviz.contract.models import Model, Training
from attnviz.contract.stages import Axis as SentAxis
from attnviz.contract.stages import RuleArray, RuleLine, RuleNumbers, RuleShape, RuleVariant, StageNumbers, StageShape
from attnviz.core.operations.rule import Rule, Slot
from attnviz.core.stage import Stage, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.one_word import bands, formula, marks, page, sources
from attnviz.explain.pass_as_microgpt import names_in_microgpt
from attnviz.explain.pictures import pictures
from attnviz.explain.step import ShownStep
from attnviz.explain.steps import AXES, entry, step_of, stories_of, symbol
from attnviz.explain.steps.answer import verdict
from attnviz.explain.texts import input_titles, sides
from attnviz.explain.wording import percent

Chunks = list[str | None]


def encoded(values: np.ndarray) -> str:
    """Encode an array as base64 of little-endian float64 in C order."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f8").tobytes()).decode("ascii")


def encoded_in_32_bits(values: np.ndarray) -> str:
    """Encode an array as ~ and base64 of little-endian float32, half as long."""
    with np.errstate(over="ignore"):
        return "~" + base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


class SendFilter(NamedTuple):
    """The heads whose numbers are sent, and the queries of a stage that is sent row by row; None for all."""

    heads: Collection[int] | None = None
    queries: Collection[int] | None = None
    left_out: Collection[str] = ()  # stages without any numbers; then the others are in 32 bits


def chunks(
    values: np.ndarray, sent: Sequence[Collection[int] | None] = (), encode: Callable[[np.ndarray], str] = encoded
) -> Chunks:
    """Encode an array in pieces that can be sent one by one: one for each index on the first `len(sent)` axes.

    `sent` has the indices to encode on each of these axes, None for all. A piece is None if it is not encoded, and its
    first number alone if all its numbers have the same bits.
    """
    return [
        _chunk(values[places], encode)
        if all(of is None or at in of for at, of in zip(places, sent, strict=True))
        else None
        for places in np.ndindex(values.shape[: len(sent)])
    ]


def _chunk(values: np.ndarray, encode: Callable[[np.ndarray], str]) -> str:
    bits = np.ascontiguousarray(values, dtype="<f8").view("<i8").ravel()
    return encode(values.ravel()[:1] if values.size and np.all(bits == bits[0]) else values)


HIDES = ("masked", "attention")  # stages whose cells at hidden keys are drawn as hidden
ALL = SendFilter()  # send all numbers of a pass
_OF_HEADS = ("h", "(g r)")  # the beginning of the pattern of an array with a part for each head


def stages(trace: Trace) -> dict[str, StageShape]:
    """Every stage without its numbers, by name, in the order of the pass."""
    names = names_in_microgpt(trace)
    return {stage.name: _stage(trace, stage, names.get(stage.name, "")) for stage in trace.stages}


def numbers(
    trace: Trace, limits: Mapping[str, float], sent: SendFilter, whole: Collection[str] = ()
) -> dict[str, StageNumbers]:
    """The numbers of every stage and their origin; only those in `sent`, except for stages in `whole`."""
    of_all = sent._replace(heads=None, queries=None)
    return {
        stage.name: _numbers(trace, stage, limits[stage.name], sent, of_all if stage.name in whole else sent)
        for stage in trace.stages
    }


def values(stage: Stage, sent: SendFilter = ALL) -> Chunks:
    """The numbers of a stage, with a piece per head, or per head and query."""
    if stage.name in sent.left_out:
        return [None]
    axes = (sent.heads, sent.queries) if by_row(stage) else (sent.heads,) if stage.is_headed else ()
    return chunks(stage.value, axes, _encoding(sent))


def _encoding(sent: SendFilter) -> Callable[[np.ndarray], str]:
    return encoded_in_32_bits if sent.left_out else encoded


def by_row(stage: Stage) -> bool:
    """Whether a stage is sent row by row, as it has a matrix for each head and query."""
    return stage.is_headed and len(stage.shape) > 3


def _stage(trace: Trace, stage: Stage, in_microgpt: str) -> StageShape:
    words = entry(stage.name)
    of_text = input_titles(trace).get(stage.name)
    title, one, meaning = of_text or (words.title, words.one or words.title.lower(), words.meaning)
    rule = trace.rule(stage.name)
    return StageShape(
        symbol=symbol(stage),
        title=title,
        meaning=meaning,
        one=one,
        role=words.role,
        scale="signed" if words.scale == "flag" and stage.value.dtype != bool else words.scale,
        step=step_of(trace, stage.name),
        axes=[
            SentAxis(
                name=axis.name, title=_axis_title(trace, axis.name), labels=axis.labels, coordinates=axis.coordinates
            )
            for axis in trace.axes(stage.name)
        ],
        hidden_by=trace.layer_of(stage.name).names["masked"] if split_layer(stage.name)[0] in HIDES else "",
        rule=None if rule is None else _rule(stage, rule),
        stories=[(story.when, story.text) for story in stories_of(trace, stage.name)],
        in_microgpt=in_microgpt,
    )


def _axis_title(trace: Trace, axis: str) -> str:
    title = AXES[axis]
    return title.replace("context", sides(trace)[1]) if trace.has_encoder else title


def _numbers(trace: Trace, stage: Stage, limit: float, sent: SendFilter, sent_of_it: SendFilter) -> StageNumbers:
    rule = trace.rule(stage.name)
    return StageNumbers(
        limit=limit,
        values=values(stage, sent_of_it),
        overridden=sorted(_run(index, stage.shape) for index in stage.overridden),
        overridden_by=stage.overridden_by or "set by hand",
        recipe=stage.operation.recipe if stage.is_given else "",
        marks=marks(stage),
        rule=UNSET if rule is None else RuleNumbers(arrays=_arrays(rule, sent)),
    )


def _run(index: Sequence[int], shape: Sequence[int]) -> tuple[int, int]:
    """The cells whose index begins so: the flat index of the first, and their count."""
    n = math.prod(shape[len(index) :])
    return int(np.ravel_multi_index(index, shape[: len(index)])) * n, n


def _rule(stage: Stage, rule: Rule) -> RuleShape:
    def slot(of: Slot) -> tuple[str, str]:
        source = stage.inputs[of.source] if isinstance(of.source, int) else of.source or stage.name
        return source, of.pattern

    return RuleShape(
        result=rule.result,
        sizes=rule.sizes,
        slots={name: slot(of) for name, of in rule.slots.items()},
        case=slot(rule.case) if rule.case else None,
        until=slot(rule.until) if rule.until else None,
        variants=[
            RuleVariant(**vars(each) | {"lines": [RuleLine(**vars(line)) for line in each.lines]})
            for each in rule.variants
        ],
    )


def _arrays(rule: Rule, sent: SendFilter) -> dict[str, RuleArray]:
    slots = (*rule.slots.values(), *filter(None, (rule.case, rule.until)))
    patterns = {of.source: of.pattern for of in slots}
    return {
        name: RuleArray(values=chunks(array, sent[:1] if patterns[name].startswith(_OF_HEADS) else (), _encoding(sent)))
        for name, array in rule.arrays.items()
    }


def model_data(trace: Trace, training: dict | None) -> Model | None:
    """The model behind a pass, for the viewer; None if the pass belongs to no model that answers."""
    origin = trace.origin
    if not origin.read:
        return None
    return Model(
        read=origin.read,
        answers="probabilities",
        right=origin.right,
        guesses=origin.kind == "drawn",
        is_open=origin.is_open,
        verdict=verdict(trace),
        training=training and convert(training | {"heads": _heads(training)}, Training),
    )


def _heads(training: dict) -> list[str]:
    """A sentence on where each head looks, largest first, and on the loss without it; none if that was not measured."""
    if not training["heads"]:
        return []
    loss, sentences = training["heads"]["loss"], []
    for number, head in enumerate(training["heads"]["heads"], start=1):
        most_first = sorted(head["looks"].items(), key=lambda each: -each[1])
        gives = ", ".join(f"{percent(weight)} to {what}" for what, weight in most_first)
        is_same = abs(head["loss"] - loss) < 0.0005
        then = f"stays {loss:.3f} nats a letter" if is_same else f"is {head['loss']:.3f} nats a letter, not {loss:.3f}"
        over = f"{training['heldOut']:,} {training['over']}"
        sentences.append(f"On average over {over}, head {number} gives {gives}. Without it the loss {then}.")
    return sentences


def step_data(trace: Trace, step: ShownStep) -> steps.Step:
    """A step of a trace for the viewer. Its attention and heads are those of its layer, or of the last layer for a step
    outside layers.
    """
    names = trace.layers[step.layer - 1].names
    of_sheet = bands(trace, step)
    return steps.Step(
        id=step.id,
        layer=step.layer,
        attention=names["attention"],
        heads=names["heads"],
        title=step.title,
        heading=step.heading,
        why=step.why if of_sheet else [],
        text=step.text,
        notes=step.notes,
        stages=step.stages,
        subject=step.subject or (step.stages or [trace.output.name])[-1],
        pictures=pictures(trace, step.stages),
        formulas=[formula(trace, trace[name]) for name in step.stages if trace[name].inputs],
        numpy=[line for name in step.stages for line in trace.lines(name)],
        page=page(trace, step, of_sheet),
        bands=of_sheet,
        sources=sources(trace, step),
        arcs=step.arcs,
        bars=[(bars.stage, bars.array) for bars in step.bars],
    )
