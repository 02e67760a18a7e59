"""Insights: captions computed from the numbers they stand under. Each is plain text, and so is also read aloud."""

from collections.abc import Callable

import numpy as np

from attnviz.focus import Focus
from attnviz.trace import Trace


def caption(trace: Trace, name: str, focus: Focus) -> str:
    """What is worth seeing in the stage `name`, in one or two sentences about the cell in focus."""
    return _CAPTIONS[name](trace, focus)


def _embeddings(trace: Trace, focus: Focus) -> str:
    rows = trace["embeddings"].value
    word = _quoted(trace.label("token", focus.query))
    row = rows[focus.query]
    twins = [i for i in range(len(rows)) if i != focus.query and (rows[i] == row).all()]
    same = (
        f" It is the same vector as that of {_listed(_quoted(trace.label('token', i)) for i in twins)}: "
        "a word's embedding depends on the word and the seed alone."
        if twins
        else ""
    )
    return f"{word} enters as {len(row)} numbers between {_number(row.min())} and {_number(row.max())}.{same}"


def _input(trace: Trace, focus: Focus) -> str:
    word = _quoted(trace.label("token", focus.query))
    if "embeddings" not in trace:
        row = trace["x"].value[focus.query]
        return f"{word} enters as {_counted(len(row), 'number')} between {_number(row.min())} and {_number(row.max())}."
    if "positions" not in trace:
        return f"Nothing is added to the embeddings, so {word} would enter alike at any place in the sentence."
    moved = np.linalg.norm(trace["positions"].value[focus.query])
    size = np.linalg.norm(trace["embeddings"].value[focus.query])
    return (
        f"Place {focus.query + 1} moves {word} by {_number(moved)}, where its embedding is {_number(size)} long: "
        "the same word elsewhere now enters as another vector."
    )


def _context(trace: Trace, focus: Focus) -> str:
    n_keys = trace["context"].shape[0]
    n_queries = trace["x"].shape[0]
    return f"{_counted(n_queries, 'query', 'queries')} will look at {_counted(n_keys, 'key')} of another sentence."


def _projection(name: str, does: str) -> Callable[[Trace, Focus], str]:
    def say(trace: Trace, focus: Focus) -> str:
        stage = trace[name]
        axis = stage.axes[1]
        place = focus.query if axis == "query" else focus.key
        row = stage.value[focus.head, place]
        largest = int(np.abs(row).argmax())
        made = (
            f"{trace.inputs(name)[0].shape[-1]} numbers become {len(row)}" if len(trace[name].inputs) > 1 else "As is"
        )
        return (
            f"{made}: head {focus.head + 1} {does} {_quoted(trace.label(axis, place))} by {len(row)} numbers, "
            f"the largest in size {_number(row[largest])} at place {largest + 1}."
        )

    return say


def _scores(trace: Trace, focus: Focus) -> str:
    row = trace["scores"].value[focus.head, focus.query]
    word = _quoted(trace.label("query", focus.query))
    if len(row) == 1:
        return f"{word} has one key to look at, and scores {row[0]:.2f} with it."
    best, worst = _quoted(trace.label("key", int(row.argmax()))), _quoted(trace.label("key", int(row.argmin())))
    return (
        f"In head {focus.head + 1} {word} scores highest with {best} ({_number(row.max())}) "
        f"and lowest with {worst} ({_number(row.min())})."
    )


def _scaled(trace: Trace, focus: Focus) -> str:
    before, after = trace["scores"].value[focus.head], trace["scaled"].value[focus.head]
    factor = trace["scaled"].operation.factor
    if factor == 1:
        return f"Scaling is off: head {focus.head + 1}'s scores keep their spread of {_number(before.std())}."
    d_k = trace["scaled"].operation.d_k
    by = f"Dividing by √{d_k} = {d_k**0.5:.2f}" if factor is None else f"Multiplying by {factor:g}"
    return (
        f"{by} brings the spread (standard deviation) of head {focus.head + 1}'s scores "
        f"from {_number(before.std())} to {_number(after.std())}; their order stays."
    )


def _masked(trace: Trace, focus: Focus) -> str:
    visible = np.isfinite(trace["masked"].value[focus.head])
    hidden = visible.size - np.count_nonzero(visible)
    if not hidden:
        return "Nothing is hidden: every query sees every key."
    word = _quoted(trace.label("query", focus.query))
    sees = [_quoted(trace.label("key", int(key))) for key in np.flatnonzero(visible[focus.query])]
    return (
        f"{hidden} of {visible.size} pairs are hidden in head {focus.head + 1}; "
        f"{word} sees {_listed(sees) if sees else 'no key'}.{_blind(trace)}"
    )


def _attention(trace: Trace, focus: Focus) -> str:
    row = trace["attention"].value[focus.head, focus.query]
    seen = np.count_nonzero(np.isfinite(trace["masked"].value[focus.head, focus.query]))
    word = _quoted(trace.label("query", focus.query))
    if not seen:
        return f"{word} sees no key in head {focus.head + 1}, so its row is zeros.{_blind(trace)}"
    best = int(row.argmax())
    share = _number(row[best])
    if seen == 1:
        return (
            f"{word} sees {_quoted(trace.label('key', best))} alone, and gives it everything: {share}.{_blind(trace)}"
        )
    return (
        f"In head {focus.head + 1} {word} looks most at {_quoted(trace.label('key', best))}: {share}, "
        f"{row[best] * seen:.1f} times an even share (1/{seen}).{_blind(trace)}"
    )


def _heads(trace: Trace, focus: Focus) -> str:
    row = trace["attention"].value[focus.head, focus.query]
    word = _quoted(trace.label("query", focus.query))
    if not row.any():
        return f"{word} sees no key in head {focus.head + 1}, so nothing is mixed and its row is zeros."
    order = np.argsort(-row, kind="stable")[:2]
    parts = [f"{row[key]:.0%} {_quoted(trace.label('key', int(key)))}" for key in order]
    return f"What head {focus.head + 1} makes of {word} is {_listed(parts)}{' and less of the rest' * (len(row) > 2)}."


def _concat(trace: Trace, focus: Focus) -> str:
    n_heads, n_queries, width = trace["heads"].shape
    return (
        f"{_counted(n_heads, 'head')} of {width} numbers make one row of {n_heads * width} for each of "
        f"{_counted(n_queries, 'query', 'queries')}. No number changes."
    )


def _output(trace: Trace, focus: Focus) -> str:
    parts = trace["contributions"].value[:, focus.query]
    word = _quoted(trace.label("query", focus.query))
    length = np.linalg.norm(trace["output"].value[focus.query])
    if len(parts) == 1:
        return f"{word} leaves as a vector of length {_number(length)}, made by the only head."
    lengths = np.linalg.norm(parts, axis=-1)
    largest = int(lengths.argmax())
    return (
        f"{word} leaves as a vector of length {_number(length)}. The longest part of it comes from head {largest + 1}, "
        f"{_number(lengths[largest])}; the shortest from head {int(lengths.argmin()) + 1}, {_number(lengths.min())}."
    )


def summary(trace: Trace) -> str:
    """The whole pass in one sentence."""
    parameters = sum(stage.value.size for stage in trace.stages if stage.name[:2] in ("w_", "b_"))
    everything = sum(stage.value.size for stage in trace.stages)
    n_queries, n_keys = trace["scores"].shape[1:]
    last = trace.stages[-1]
    return (
        f"{_counted(n_queries, 'query', 'queries')} and {_counted(n_keys, 'key')} go in; "
        f"{last.shape[0]} rows of {last.shape[1]} numbers come out. "
        f"{everything:,} numbers in all, {parameters:,} of them parameters."
    )


_CAPTIONS: dict[str, Callable[[Trace, Focus], str]] = {
    "embeddings": _embeddings,
    "context_embeddings": _context,
    "x": _input,
    "context": _context,
    "q": _projection("q", "asks for"),
    "k": _projection("k", "announces"),
    "v": _projection("v", "hands over"),
    "scores": _scores,
    "scaled": _scaled,
    "masked": _masked,
    "attention": _attention,
    "heads": _heads,
    "concat": _concat,
    "output": _output,
}


def _blind(trace: Trace) -> str:
    rows = sorted({query for _, query in trace.blind})
    if not rows:
        return ""
    words = _listed(_quoted(trace.label("query", query)) for query in rows[:4])
    more = f" and {len(rows) - 4} more" if len(rows) > 4 else ""
    return f" {words}{more} {'sees' if len(rows) == 1 else 'see'} no key at all: attention there is zeros."


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _quoted(word: str) -> str:
    return f"“{word}”"


def _listed(parts) -> str:
    *first, last = parts
    if len(first) > 5:
        return f"{', '.join(first[:5])} and {len(first) - 4} more"
    return f"{', '.join(first)} and {last}" if first else last


def _counted(n: int, one: str, many: str = "") -> str:
    return f"1 {one}" if n == 1 else f"{n} {many or one + 's'}"
