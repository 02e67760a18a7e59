"""Steps of the walkthrough, one module each: the vocabulary of its stages, and what is said of them.

Which steps a trace has, and what they say, follows from its stages.
"""

from dataclasses import replace

from attnviz.core.trace import Trace
from attnviz.text.entry import Entry
from attnviz.text.step import Step
from attnviz.text.steps.concatenation import CONCATENATION
from attnviz.text.steps.mask import MASK
from attnviz.text.steps.output import OUTPUT
from attnviz.text.steps.positions import POSITIONS
from attnviz.text.steps.projections import PROJECTIONS
from attnviz.text.steps.question import QUESTION
from attnviz.text.steps.scaling import SCALING
from attnviz.text.steps.scores import SCORES
from attnviz.text.steps.softmax import SOFTMAX
from attnviz.text.steps.tokens import TOKENS
from attnviz.text.steps.weighted_sum import WEIGHTED_SUM
from attnviz.text.steps.whole_pass import WHOLE_PASS

STEPS = (
    QUESTION,
    TOKENS,
    POSITIONS,
    PROJECTIONS,
    SCORES,
    SCALING,
    MASK,
    SOFTMAX,
    WEIGHTED_SUM,
    CONCATENATION,
    OUTPUT,
    WHOLE_PASS,
)

ENTRIES: dict[str, Entry] = {
    name: replace(entry, step=step.id) for step in STEPS for name, entry in step.entries.items()
}
"""What the steps say of each stage, by its name."""


def steps_of(trace: Trace) -> tuple[Step, ...]:
    """The steps that the stages of the trace call for.

    Of two steps that could show a stage the later one does.
    """
    steps = [step.of(trace, ENTRIES) for step in STEPS if step.is_in(trace)]
    shown_in = {name: step.id for step in steps for name in step.stages}
    return tuple(replace(step, stages=tuple(n for n in step.stages if shown_in[n] == step.id)) for step in steps)


def find(text: str) -> str | None:
    """The id of the step whose id or title this is, in upper or lower case; None if there is none.

    >>> find("q, k, v"), find("QKV"), find("nonsense")
    ('qkv', 'qkv', None)
    """
    named = {name.casefold(): step.id for step in STEPS for name in (step.id, step.title)}
    return named.get(text.strip().casefold())
