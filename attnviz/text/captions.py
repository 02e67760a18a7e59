"""Insights: captions computed from the numbers they stand under. Each is plain text, and so is also read aloud.

Numbers are told to two decimals. Words whose numbers differ by rounding errors only are tied, and all named.
"""

from collections.abc import Callable, Iterable

import numpy as np

from attnviz.core.selection import Selection
from attnviz.core.trace import Trace
from attnviz.text.wording import alike, counted, each, length, listed, number, numbered, quoted, same, tied


def caption(trace: Trace, name: str, selection: Selection) -> str:
    """What is worth seeing in the stage `name`, in one to three sentences about the selected cell."""
    return _CAPTIONS[name](trace, selection)


def summary(trace: Trace) -> str:
    """The whole pass in one sentence."""
    parameters = sum(stage.value.size for stage in trace.stages if stage.name[:2] in ("w_", "b_"))
    everything = sum(stage.value.size for stage in trace.stages)
    n_queries, n_keys = trace["scores"].shape[1:]
    n_rows, width = trace.output.shape
    return (
        f"{counted(n_queries, 'query', 'queries')} and {counted(n_keys, 'key')} go in; "
        f"{counted(n_rows, 'row')} of {counted(width, 'number')} {'comes' if n_rows == 1 else 'come'} out. "
        f"{everything:,} numbers in all, {parameters:,} of them in the parameters."
    )


def _embeddings(trace: Trace, selection: Selection) -> str:
    rows = trace["embeddings"].value
    twins = [i for i in range(len(rows)) if i != selection.query and (rows[i] == rows[selection.query]).all()]
    same = (
        f" It is the same vector as that of {_words(trace, 'token', twins)}: "
        "a word's embedding depends on the word and the seed alone."
        if twins
        else ""
    )
    return f"{_enters(trace, 'embeddings', selection.query)}{same}"


def _context_embeddings(trace: Trace, selection: Selection) -> str:
    return f"{_enters(trace, 'context_embeddings', selection.key)}{_OTHER_SENTENCE}"


def _input(trace: Trace, selection: Selection) -> str:
    if "embeddings" not in trace:
        return _enters(trace, "x", selection.query)
    return _placed(trace, "", _word(trace, "token", selection.query), selection.query)


def _context(trace: Trace, selection: Selection) -> str:
    if "context_embeddings" not in trace:
        return f"{_enters(trace, 'context', selection.key)}{_OTHER_SENTENCE}"
    return _placed(trace, "context_", _word(trace, "context token", selection.key), selection.key)


_OTHER_SENTENCE = " It is a word of another sentence than the queries: keys and values come from there."


def _enters(trace: Trace, name: str, place: int) -> str:
    stage = trace[name]
    row = stage.value[place]
    numbers = counted(len(row), "number")
    span = f": {each(row)}" if alike(row) else f" between {number(row.min())} and {number(row.max())}"
    return f"{_word(trace, stage.axes[0], place)} enters as {numbers}{span}."


def _placed(trace: Trace, prefix: str, word: str, place: int) -> str:
    if f"{prefix}positions" not in trace:
        return f"Nothing is added to the embeddings, so {word} would enter alike at any place in the sentence."
    moved, size = (length(trace[f"{prefix}{name}"].value[place]) for name in ("positions", "embeddings"))
    return (
        f"Place {place + 1} moves {word} by {number(moved)}, where its embedding is {number(size)} long: "
        "the same word elsewhere enters as another vector."
    )


def _projection(name: str, does: str) -> Callable[[Trace, Selection], str]:
    def say(trace: Trace, selection: Selection) -> str:
        stage = trace[name]
        axis = stage.axes[1]
        place = selection.query if axis == "query" else selection.key
        row = stage.value[selection.head, place]
        made = f"made from its {trace.inputs(name)[0].shape[-1]}" if len(stage.inputs) > 1 else "as they are given"
        largest = np.abs(row).max()
        most = (
            f": {each(row)}"
            if alike(row)
            else f"; the largest is {number(largest)} in size, at {numbered('place', tied(np.abs(row), largest))}"
        )
        numbers = counted(len(row), "number")
        return f"In head {selection.head + 1} {_word(trace, axis, place)} {does} {numbers} ({made}){most}."

    return say


def _scores(trace: Trace, selection: Selection) -> str:
    row = trace["scores"].value[selection.head, selection.query]
    who = f"In head {selection.head + 1} {_word(trace, 'query', selection.query)}"
    if len(row) == 1:
        return f"{who} has one key to look at, {_word(trace, 'key', 0)}, and scores {number(row[0])} with it."
    if alike(row):
        return f"{who} scores alike with all {len(row)} keys: {each(row)}."
    best, worst = (_words(trace, "key", tied(row, value)) for value in (row.max(), row.min()))
    return f"{who} scores highest with {best} ({number(row.max())}) and lowest with {worst} ({number(row.min())})."


def _scaled(trace: Trace, selection: Selection) -> str:
    before, after = trace["scores"].value[selection.head], trace["scaled"].value[selection.head]
    operation = trace["scaled"].operation
    factor = operation.factor
    by = f"Dividing by √{operation.d_k} = {number(operation.d_k**0.5)}"
    if factor is not None:
        by = "Scaling is off, which" if factor == 1 else f"Multiplying by {factor:g}".replace("-", "−")
    if same(before):
        what = f"head {selection.head + 1}'s {'only score' if before.size == 1 else 'scores, all alike,'}"
        ends = number(before[0, 0]), number(after[0, 0])
        order = ""
    else:
        what = f"the spread (standard deviation) of head {selection.head + 1}'s scores"
        ends = number(before.std()), number(after.std())
        order = "; their order stays" if factor is None or factor > 0 else ""
    if factor == 1 or (factor is None and operation.d_k == 1):
        return f"{by} leaves {what} at {ends[0]}."
    rounded = ", to two decimals" * (ends[0] == ends[1])
    return f"{by} brings {what} from {ends[0]} to {ends[1]}{rounded}{order}."


def _masked(trace: Trace, selection: Selection) -> str:
    visible = np.isfinite(trace["masked"].value[selection.head])
    hidden = visible.size - np.count_nonzero(visible)
    added = _added(trace, selection.head, visible)
    if not hidden:
        return f"Nothing is hidden in head {selection.head + 1}: every query sees every key.{added}"
    keys = np.flatnonzero(visible[selection.query])
    sees = _words(trace, "key", keys) if len(keys) else "no key"
    return (
        f"{hidden} of {counted(visible.size, 'pair')} {'is' if hidden == 1 else 'are'} hidden "
        f"in head {selection.head + 1};"
        f" {_word(trace, 'query', selection.query)} sees {sees}.{_fully_masked(trace, selection)}{added}"
    )


def _added(trace: Trace, head: int, visible: np.ndarray) -> str:
    """What a mask of numbers does to the scores that it leaves visible."""
    mask = trace["mask"].value
    numbers = np.broadcast_to(mask, trace["masked"].shape)[head][visible]
    if mask.dtype == bool or not numbers.any():
        return ""
    return f" To the scores that stay it adds from {number(numbers.min())} to {number(numbers.max())}."


def _attention(trace: Trace, selection: Selection) -> str:
    row = trace["attention"].value[selection.head, selection.query]
    seen = np.flatnonzero(np.isfinite(trace["masked"].value[selection.head, selection.query]))
    who = f"In head {selection.head + 1} {_word(trace, 'query', selection.query)}"
    others = f"{_negative(trace, row)}{_fully_masked(trace, selection)}"
    if not len(seen):
        return f"{who} sees no key, so its row is zeros.{others}"
    if len(seen) == 1:
        return f"{who} sees {_words(trace, 'key', seen)} alone: its share is {number(row[seen[0]])}.{others}"
    if alike(row[seen] * len(seen)):
        evenly, about = ("evenly", "") if same(row[seen]) else ("almost evenly", "about ")
        share = f"{about}{number(row[seen].mean())} each"
        return f"{who} shares itself out {evenly} among the {len(seen)} keys that it sees: {share}.{others}"
    best = tied(row, row.max())
    return (
        f"{who} looks most at {_words(trace, 'key', best)}: {number(row.max())}{' each' * (len(best) > 1)}, "
        f"{number(row.max() * len(seen))} times an even share (1/{len(seen)}).{others}"
    )


def _heads(trace: Trace, selection: Selection) -> str:
    row = trace["attention"].value[selection.head, selection.query]
    word = _word(trace, "query", selection.query)
    if not row.any():
        return f"{word} sees no key in head {selection.head + 1}, so nothing is mixed and its row is zeros."
    return f"What head {selection.head + 1} makes of {word} is {_mixture(trace, row)}.{_negative(trace, row)}"


def _mixture(trace: Trace, row: np.ndarray) -> str:
    """The one or two largest shares in percent, each with all keys that have it."""
    given = np.flatnonzero(row)
    groups: dict[str, list[int]] = {}
    for key in given[np.argsort(-row[given], kind="stable")]:
        groups.setdefault(f"{row[key]:.0%}", []).append(int(key))
    shown = [(percent, keys) for percent, keys in groups.items() if percent.strip("-") != "0%" and row[keys[0]] > 0]
    if not shown:
        return f"a little of each of {counted(len(given), 'key')}"
    shown = shown[: 1 if len(shown[0][1]) > 1 else 2]
    named = sum(len(keys) for _, keys in shown)
    if shown[0][0] == "100%" and len(shown) == named == 1 and (row >= 0).all():
        return f"{'all' if len(given) == 1 else 'almost all'} {_words(trace, 'key', shown[0][1])}"
    parts = [f"{percent}{' each of' * (len(keys) > 1)} {_words(trace, 'key', sorted(keys))}" for percent, keys in shown]
    return f"{listed(parts)}{', and less of the rest' * (named < len(given))}"


def _concat(trace: Trace, selection: Selection) -> str:
    n_heads, _, width = trace["heads"].shape
    return (
        f"{counted(n_heads, 'head')} with {counted(width, 'number')}{' each' * (n_heads > 1)} "
        f"{'makes' if n_heads == 1 else 'make'} one row of {counted(n_heads * width, 'number')} for each query. "
        "No number changes."
    )


def _contributions(trace: Trace, selection: Selection) -> str:
    part = trace["contributions"].value[selection.head, selection.query]
    word = _word(trace, "query", selection.query)
    if not part.any():
        return f"Head {selection.head + 1} adds nothing to the output of {word}: its part is zeros."
    output = trace["output"].value[selection.query]
    return (
        f"Head {selection.head + 1} adds a vector of length {number(length(part))} to the output of {word}, "
        f"which is {number(length(output))} long."
    )


def _output(trace: Trace, selection: Selection) -> str:
    parts = trace["contributions"].value[:, selection.query]
    output = trace["output"].value[selection.query]
    leaves = f"{_word(trace, 'query', selection.query)} leaves as a vector of length {number(length(output))}."
    lengths = np.array([length(part) for part in parts])
    if not parts.any():
        return f"{leaves} No head adds anything to it."
    if len(parts) == 1:
        return f"{leaves} The only head adds a part of length {number(lengths[0])}."
    if alike(lengths):
        return f"{leaves} The parts that the {len(parts)} heads add are equally long: {each(lengths)}."
    longest, shortest = (numbered("head", tied(lengths, value)) for value in (lengths.max(), lengths.min()))
    return (
        f"{leaves} Of the parts that the heads add, the longest is {number(lengths.max())} long, from {longest}, "
        f"and the shortest {number(lengths.min())}, from {shortest}."
    )


_CAPTIONS: dict[str, Callable[[Trace, Selection], str]] = {
    "embeddings": _embeddings,
    "context_embeddings": _context_embeddings,
    "x": _input,
    "context": _context,
    "q": _projection("q", "asks with"),
    "k": _projection("k", "answers to"),
    "v": _projection("v", "hands over"),
    "scores": _scores,
    "scaled": _scaled,
    "masked": _masked,
    "attention": _attention,
    "heads": _heads,
    "concat": _concat,
    "contributions": _contributions,
    "output": _output,
}


def _fully_masked(trace: Trace, selection: Selection) -> str:
    """The other words that see no key in the selected head."""
    rows = [query for head, query in trace.fully_masked if head == selection.head and query != selection.query]
    if not rows:
        return ""
    return f" {_words(trace, 'query', rows)} {'sees' if len(rows) == 1 else 'see'} no key there: attention is zeros."


def _negative(trace: Trace, shares: np.ndarray) -> str:
    """The keys whose shares are below 0, as those of no softmax are."""
    keys = np.flatnonzero(shares < 0)
    if not len(keys):
        return ""
    return f" {_words(trace, 'key', keys)} {'has a share' if len(keys) == 1 else 'have shares'} below 0."


def _word(trace: Trace, axis: str, place: int) -> str:
    return quoted(trace.label(axis, place))


def _words(trace: Trace, axis: str, places: Iterable[int]) -> str:
    return listed(_word(trace, axis, int(place)) for place in places)
