"""Claims: a story of one number is read clause by clause, and each is held against the arrays alone."""

import functools
import math
import re

import numpy as np
from numerals import short

from attnviz.core.operations.norms import LayerNorm
from attnviz.core.stage import split_layer

ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth")
COUNTS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER = r"(−?\d+(?:\.\d+)?(?:e−?\d+)?)"
RANKED = rf"{NUMBER}(?: with “[^”]*”)?(?: is|,) (tied for )?(highest|lowest|\w+) of (\w+)"
N = r"(−?\d+(?:\.\d+)?(?:e−?\d+)?|−∞)"
PERCENT = r"(?:(under |over )?(−?)(\d+) ?%|(−?[\d.]+e−?\d+))"
BY = rf"is multiplied by {N} on its way to"
DIMENSION = r"dimension (\d+)"


def check(trace, name, index, story):
    """Read a story whole, clause after clause; the clauses that it is of."""
    cell, clauses = Read(trace, name, index), []
    rest = without_note(trace, story.replace("\N{NO-BREAK SPACE}", " "))
    while rest != ".":
        found = [(match, clause) for clause, reads in _readers(bool(clauses)) if (match := reads(rest))]
        assert found, f"no clause reads {rest!r}"
        match, clause = max(found, key=lambda each: each[0].end())
        holds = (CLAUSES if clauses else OPENINGS)[clause]
        assert holds(cell, *match.groups()), f"{name}{index}: {story!r}, of which {match[0]!r}"
        clauses.append(clause)
        rest = rest[match.end() :]
    return clauses


NOTE = re.compile(r"(?: (\w+\[[^\]]+\]) is| (\d+) numbers here are) set by hand\.$")


def without_note(trace, text):
    """What is said before the note on numbers that are set by hand, each of which is."""
    note = NOTE.search(text)
    if not note:
        return text
    by_hand = {
        trace.name_of(stage.cell(index))
        for stage in trace.stages
        if stage.overridden
        for index in np.ndindex(stage.shape)
        if stage.is_overridden(index)
    }
    name, n = note.groups()
    assert name in by_hand if name else 1 < int(n) <= len(by_hand)
    return text[: note.start()]


@functools.cache
def _readers(is_begun):
    """Each clause that a story may begin or go on with, beside what reads it: there are some tens for each story."""
    return [(clause, re.compile(clause).match) for clause in (CLAUSES if is_begun else OPENINGS)]


class Cell:
    """A cell, and what stands at its place in other stages of its layer."""

    def __init__(self, trace, name, index):
        self.trace, self.own, self.index = trace.layer_of(name).trace, split_layer(name)[0], index

    def row(self, stage=""):
        return self.trace[stage or self.own].value[self.index[:-1]]

    def number(self, stage=""):
        return float(self.row(stage)[self.index[-1]])

    def seen(self):
        return self.row("masked") != -np.inf

    def sees(self):
        return self.number("masked") != -np.inf


def is_ranked(cell, value, tied, place, count):
    """Two numbers tie if nine digits of them are the same, however large others of their row may be."""
    stage = {"attention": "masked", "probabilities": "logits"}.get(cell.own, cell.own)
    row, own = (
        cell.row(stage)[cell.seen()]
        if stage in ("scores", "scaled", "capped", "biased", "masked")
        else cell.row(stage),
        cell.number(stage),
    )
    others = [each for each in row if not math.isclose(each, own, rel_tol=1e-9)]
    higher, lower = (sum(test(each, own) for each in others) for test in (float.__gt__, float.__lt__))
    ordinal = ORDINALS[higher - 1] if 0 < higher <= len(ORDINALS) else f"{higher + 1}{place[-2:]}"
    return (
        value == short(own)
        and place == ("highest" if not higher else "lowest" if not lower else ordinal)
        and bool(tied) == (len(row) - len(others) > 1)
        and count == (COUNTS[len(row) - 2] if len(row) - 2 < len(COUNTS) else str(len(row)))
    )


def is_percent(cell, bound, sign, hundredths):
    """A half is the larger of its two neighbours."""
    share = abs(100 * cell.number())
    if bound:
        return 0 < share < 1 if bound == "under " else 99 < share < 100
    return int(hundredths) - 0.5 <= share * (1 + 1e-12) < int(hundredths) + 0.5 and (not sign or cell.number() < 0)


class Read(Cell):
    """A cell with its labels, and what it is computed from."""

    def __init__(self, trace, name, index):
        super().__init__(trace, name, index)
        self.whole, self.name = trace, name

    def label(self, axis):
        return self.whole.axes(self.name)[axis].labels[self.index[axis]]

    def is_at(self, row=None, column=None, head=None):
        """Whether its labels are these."""
        said = {-2: row, -1: column}
        return all(text is None or text == self.label(axis) for axis, text in said.items()) and (
            head is None or head in (str(self.index[0] + 1), self.label(0))
        )

    def says(self, text, stage=""):
        """Whether a text is its number, or the one that stands at its place in another stage."""
        number = self.number(stage)
        return text == ("−∞" if number == -np.inf else str(int(number)) if self.is_flag(stage) else short(number))

    def is_flag(self, stage):
        return self.trace[stage or self.own].value.dtype == bool

    @property
    def inputs(self):
        return [stage.value for stage in self.whole.inputs(self.name)]

    @property
    def factors(self):
        """The two rows of numbers that are multiplied to make it."""
        one, other = self.inputs[:2]
        *head, row, column = self.index
        if head and self.own in ("scores", "heads", "content_scores", "position_scores", "latent_heads"):
            other = np.repeat(other, len(one) // len(other), axis=0)  # of groups, for each head
        if self.own in ("k", "v") and one.ndim > 2:
            return np.repeat(one, len(other) // len(one), axis=0)[head[0], row], other[head[0], :, column]
        if self.own == "q_compressed":
            return one[row], other[:, column]
        if self.own in ("q", "k", "v", "q_r", "k_r", "compressed"):
            return one[row], other[head[0], :, column]
        if self.own in ("scores", "content_scores", "position_scores"):
            return one[head[0], row], other[head[0], column]
        if self.own == "q_absorbed":
            return one[head[0], row], other[head[0], column]
        if self.own in ("heads", "latent_heads"):
            return one[head[0], row], other[head[0], :, column]
        if self.own == "contributions":
            return one[head[0], row], np.split(other, len(one))[head[0]][:, column]
        return one[row], other[:, column]

    @property
    def kind(self):
        """What its terms are of."""
        if self.own in ("heads", "latent_heads"):
            return "word" if "attention" in self.whole[self.name].inputs[0] else "dimension"
        return "neuron" if self.own == "mlp" else "dimension"

    @property
    def bias(self):
        return (
            float(self.inputs[2][..., self.index[-1]][self.index[0] if self.inputs[2].ndim > 1 else ()])
            if len(self.inputs) > 2
            else 0.0
        )


def is_largest_part(cell, word, kind, place, part, *numbers):
    """The largest product by its size, where it stands, and what all else adds."""
    *factors, rest = numbers
    one, other = cell.factors
    products = one * other
    at = int(place) - 1 if place else _place_of(cell, word)
    return (
        math.isclose(abs(products[at]), max(abs(products)), rel_tol=1e-12)
        and (kind or "word") == cell.kind
        and factors == [short(one[at]), short(other[at])]
        and part == short(products[at])
        and _is_rest(rest, [*np.delete(products, at), cell.bias])
    )


def _place_of(cell, word):
    return cell.trace.labels["key"].index(word) if "key" in cell.trace.labels else int(word) - 1


def _is_rest(text, others):
    return text.replace("−0.00", "0.00") == short(math.fsum(others))


def is_part_of_score(cell, score, place, part):
    queries, keys = (each.value for each in cell.trace.inputs("scores"))
    row, key = (each[cell.index[0]] for each in (queries, np.repeat(keys, len(queries) // len(keys), axis=0)))
    products = row[cell.index[1]] * key[cell.index[2]]
    at = int(place) - 1
    return (
        cell.says(score, "scores")
        and math.isclose(abs(products[at]), max(abs(products)), rel_tol=1e-12)
        and part == short(products[at])
    )


def is_all_from(cell, word, one, other):
    share, value = cell.factors
    return len(share) == 1 and _place_of(cell, word) == 0 and [one, other] == [short(share[0]), short(value[0])]


def score_named(cell, kind):
    """What a score is called: masked where a mask adds to it or it was set, else by the last operation before."""
    before = cell.trace["masked"].inputs[0]
    if before in ("capped", "biased") and (kind or "").strip() != "masked":
        return (kind or "").strip() == before
    is_scaled = cell.whole[cell.whole.layer_of(cell.name).names["scaled"]].operation.factor != 1
    masked = cell.trace["masked"].value
    is_set = np.isfinite(masked) & (masked != cell.trace[before].value)
    is_added = cell.trace["mask"].value.dtype != bool or is_set.any()
    return (kind or "").strip() == (
        "masked" if is_added and "masked" in (kind or "") else "scaled" if is_scaled else ""
    )


def is_scored(cell, kind, *ranked):
    value, tied, place, count = ranked
    is_own = "masked" in (kind or "") or cell.says(value, cell.trace["masked"].inputs[0])
    return is_own and score_named(cell, kind) and is_ranked(cell, value, tied, place, count)


def is_normed(cell):
    row = cell.inputs[0][cell.index[:-1]]
    return math.isclose(
        row[cell.index[-1]] / math.sqrt(math.fsum(row**2) / len(row) + 1e-5), cell.number(), rel_tol=1e-9, abs_tol=1e-12
    )


def is_normed_query(cell, number, read, at, made, row):
    before, gain = cell.inputs[0][cell.index[:-1]], cell.inputs[1] if len(cell.inputs) > 1 else np.ones(len(cell.row()))
    normed = before / np.sqrt(np.mean(before**2) + 1e-5) * gain
    return (
        cell.own == f"{PROJECTED[made]}_normed"
        and cell.is_at(row, at)
        and [number, read] == [short(cell.number()), short(before[cell.index[-1]])]
        and np.allclose(normed, cell.row())
    )


def parts_add_up(cell, one, other, *stages):
    return [one, other] == [short(cell.number(stage)) for stage in stages] and math.isclose(
        sum(map(cell.number, stages)), cell.number(), rel_tol=1e-9, abs_tol=1e-9
    )


def entered(cell, position):
    """The stage of what enters that stands at the place of one, for the words of either sentence."""
    return f"context_{position}" if cell.own.startswith("context") else position


def is_scaled(cell, query, key, after, before, how, base):
    """How the score is scaled; times ln 2 or ln 3, the exponential is a power of 2 or 3."""
    score, now = cell.number("scores"), cell.number()
    d_k = sum(cell.trace[name].shape[-1] for name in ("q", "q_r") if name in cell.trace)
    given = cell.whole[cell.name].operation.factor
    holds = {
        "divided by √d_k": given is None and math.isclose(now * d_k**0.5, score, rel_tol=1e-9),
        "times the given number": given is not None and math.isclose(now, score * given, rel_tol=1e-9),
    } | {f"times ln {base}": base and math.isclose(math.exp(now), float(base) ** score, rel_tol=1e-9)}
    return cell.is_at(query, key) and cell.says(before, "scores") and cell.says(after) and holds[how]


def is_moved(cell, query, key, added, score):
    scaled, mask = cell.inputs
    more = float(np.broadcast_to(mask, scaled.shape)[cell.index])
    return (
        cell.is_at(query, key)
        and [added, score] == [short(more), short(cell.number())]
        and math.isclose(cell.number(cell.trace["masked"].inputs[0]) + more, cell.number(), rel_tol=1e-9, abs_tol=1e-12)
    )


PROJECTED = {"query": "q", "key": "k", "value": "v"}
VERBS = {"asks with": "q", "offers": "k", "passes on": "v"}

MADE = {
    ("what enters", "latent"): "w_dkv",
    ("what enters", "query latent"): "w_dq",
    ("a query latent", "query"): "w_uq",
    ("a query latent", "query’s part for positions"): "w_qr",
    ("what enters", "query’s part for positions"): "w_qr",
    ("what enters", "key’s part for positions"): "w_kr",
    ("a latent", "key"): "w_uk",
    ("a latent", "value"): "w_uv",
}


def is_of_latents(cell, head, row, read, number, at, made):
    reads = next(stage for stage in cell.whole.stages if cell.name in stage.inputs).inputs[0]
    return (
        cell.own == MADE.get((read, made))
        and ("q_latent" in reads) == (read == "a query latent")
        and cell.is_at(row, at, head)
        and cell.says(number)
    )


def normed_of(cell):
    read, gain = cell.inputs[0][cell.index[:-1]], cell.inputs[1] if len(cell.inputs) > 1 else 1
    return read / np.sqrt(np.mean(read**2) + 1e-5) * gain


OPENINGS = {
    rf"The embedding of “(.+?)” has {N} in {DIMENSION}": lambda cell, row, number, at: (
        cell.own.endswith("embeddings") and cell.is_at(row, at) and cell.says(number)
    ),
    rf"“(.+?)” enters with {N} in {DIMENSION}": lambda cell, row, number, at: cell.is_at(row, at) and cell.says(number),
    rf"{N} is added in {DIMENSION} of “(.+?)”, because of its position": lambda cell, number, at, row: (
        cell.own.endswith("positions") and cell.is_at(row, at) and cell.says(number)
    ),
    rf"“(.+?)” has {N} in {DIMENSION}": lambda cell, row, number, at: cell.is_at(row, at) and cell.says(number),
    rf"In {DIMENSION} of “(.+?)”, the norm makes {N} of {N}": lambda cell, at, row, number, read: (
        cell.is_at(row, at) and cell.says(number) and read == short(cell.inputs[0][cell.index])
    ),
    rf"In {DIMENSION}, every token is multiplied by {N} after it is normed": lambda cell, at, number: (
        cell.own.startswith("g_") and cell.label(-1) == at and number == short(cell.number())
    ),
    rf"In {DIMENSION}, {N} is added to every token after it is normed": lambda cell, at, number: (
        cell.own.startswith("b_") and cell.label(-1) == at and number == short(cell.number())
    ),
    rf"In (?:head )?(\d+|group \d+), {DIMENSION} of what enters {BY} {DIMENSION} of the (\w+)": (
        lambda cell, head, row, number, at, made: (
            cell.own == f"w_{PROJECTED[made]}" and cell.is_at(row, at, head) and cell.says(number)
        )
    ),
    rf"In (?:head )?(\d+|group \d+), {N} is added in {DIMENSION} of every (\w+)": lambda cell, head, number, at, made: (
        cell.own == f"b_{PROJECTED[made]}" and cell.is_at(None, at, head) and cell.says(number)
    ),
    rf"The norm makes {N} of {N} in {DIMENSION} of the (query|key) of “(.+?)”": is_normed_query,
    rf"In {DIMENSION}, every normed (query|key) is multiplied by {N}": lambda cell, at, made, number: (
        cell.own == f"g_{PROJECTED[made]}_norm" and cell.label(-1) == at and number == short(cell.number())
    ),
    rf"In {DIMENSION} of the (query|key) of “(.+?)”, the rotation makes {N} of {N} and of the other number of its "
    r"pair": (
        lambda cell, at, made, row, number, read: (
            cell.own == f"{PROJECTED[made]}_rotated"
            and cell.is_at(row, at)
            and cell.says(number)
            and read == short(cell.inputs[0][cell.index])
        )
    ),
    rf"The scaled score {N} of “(.+?)” with “(.+?)” is brought to {N}, inside the limit": (
        lambda cell, before, query, key, number: (
            cell.is_at(query, key)
            and cell.says(before, "scaled")
            and cell.says(number)
            and abs(cell.number()) <= cell.whole[cell.name].operation.limit
        )
    ),
    rf"Of the (scaled|capped) score {N} of “(.+?)” with “(.+?)” the distance leaves {N}": (
        lambda cell, stage, before, query, key, number: (
            cell.is_at(query, key)
            and cell.says(before, stage)
            and cell.says(number)
            and (cell.number() < cell.number(stage)) == (cell.index[1] != cell.index[2])
        )
    ),
    rf"In (?:head )?(\d+), a score of {N} that belongs to no key counts in the sum of each row": (
        lambda cell, head, number: cell.own == "sinks" and cell.is_at(head=head) and is_number(cell, number)
    ),
    rf"(?:In (?:head )?(\d+|group \d+), d|D)imension (\d+) of (what enters|a (?:query )?latent) {BY} {DIMENSION} of "
    r"the ((?:query )?latent|query’s part for positions|key’s part for positions|query|key|value)": is_of_latents,
    rf"Before the norm, the (query )?latent of “(.+?)” has {N} in {DIMENSION}": lambda cell, of, row, number, at: (
        cell.own == ("q_compressed" if of else "compressed") and cell.is_at(row, at) and cell.says(number)
    ),
    rf"In {DIMENSION} of the (query )?latent of “(.+?)”, the norm makes {N} of {N}": (
        lambda cell, at, of, row, number, read: (
            cell.own == ("q_latent" if of else "latent")
            and cell.is_at(row, at)
            and [number, read] == [short(cell.number()), short(cell.inputs[0][cell.index])]
            and np.allclose(cell.row(), normed_of(cell))
        )
    ),
    rf"In {DIMENSION}, every (query )?latent is multiplied by {N} after it is normed": lambda cell, at, of, number: (
        cell.own == ("g_q_latent" if of else "g_latent") and cell.label(-1) == at and number == short(cell.number())
    ),
    rf"For positions, “(.+?)” (asks with|offers) {N} in {DIMENSION}": lambda cell, row, verb, number, at: (
        cell.own == f"{VERBS[verb]}_r" and cell.is_at(row, at) and cell.says(number)
    ),
    rf"“(.+?)” asks the latents with {N} in {DIMENSION}": lambda cell, row, number, at: (
        cell.own == "q_absorbed" and cell.is_at(row, at) and cell.says(number)
    ),
    rf"By (content|position) “(.+?)” scores {N} with “(.+?)”": lambda cell, what, query, number, key: (
        cell.own == f"{what}_scores" and cell.is_at(query, key) and cell.says(number)
    ),
    rf"In {DIMENSION} of the latents, “(.+?)” collects {N}": lambda cell, at, query, number: (
        cell.own == "latent_heads" and cell.is_at(query, at) and cell.says(number)
    ),
    r"“(.+?)” sees no key, so the sink takes all of its row": lambda cell, query: (
        cell.label(-1) == query and cell.number() == 1 and not cell.trace["attention"].value[cell.index].any()
    ),
    rf"By the end of the block of “(.+?)”, the largest (of the sink and the scores|score) of “(.+?)” is {N}": (
        lambda cell, key, said, query, number: (
            cell.is_at(query, key) and cell.says(number) and (said != "score") == ("sinks" in cell.trace)
        )
    ),
    rf"“(.+?)” is hidden from “(.+?)”: by the end of its block the sum is {N}": lambda cell, key, query, number: (
        cell.own == "running_sum" and cell.is_at(query, key) and cell.says(number) and not cell.sees()
    ),
    rf"By the end of the block of “(.+?)”, exp\(score − {N}\) of “(.+?)” adds up to {N}": (
        lambda cell, key, largest, query, number: (
            cell.own == "running_sum"
            and cell.is_at(query, key)
            and cell.says(number)
            and cell.says(largest, "running_max")
        )
    ),
    rf"By the end of the block of “(.+?)”, “(.+?)” has collected {N} in {DIMENSION}, not yet divided by the sum": (
        lambda cell, key, query, number, at: (
            cell.own == "running_output"
            and cell.says(number)
            and [cell.label(each) for each in (-3, -2, -1)] == [query, key, at]
        )
    ),
    rf"Of the row of “(.+?)” the sink takes {PERCENT}": lambda cell, query, *share: (
        cell.own == "sink_share" and cell.label(-1) == query and is_share(cell, *share)
    ),
    rf"“(.+?)” (asks with|offers|passes on) {N} in {DIMENSION}": lambda cell, row, verb, number, at: (
        cell.own == VERBS[verb] and cell.is_at(row, at) and cell.says(number)
    ),
    rf"“(.+?)” scores {N} with “(.+?)”": lambda cell, query, number, key: cell.is_at(query, key) and cell.says(number),
    rf"The scaled score of “(.+?)” with “(.+?)” is {N}: the score {N} "
    r"(divided by √d_k|times the given number|times ln ([23]))": is_scaled,
    rf"The score of “(.+?)” with “(.+?)” stays {N}": lambda cell, query, key, number: (
        cell.is_at(query, key) and cell.says(number, "scores") and cell.says(number)
    ),
    rf"For “(.+?)” and “(.+?)” the mask holds {N}": lambda cell, query, key, number: (
        cell.is_at(query, key) and cell.says(number)
    ),
    rf"To the score of “(.+?)” with “(.+?)” the mask adds {N}": lambda cell, query, key, number: (
        cell.is_at(query, key) and cell.says(number)
    ),
    r"“(.+?)” is hidden from “(.+?)”": lambda cell, key, query: (
        cell.is_at(query, key) and cell.number("masked") == -np.inf
    ),
    rf"No mask hides “(.+?)”, so its (scaled |capped |biased )?score stays {N}": lambda cell, key, kind, number: (
        cell.is_at(None, key)
        and score_named(cell, kind)
        and np.isfinite(cell.trace["masked"].value).all()
        and cell.says(number, cell.trace["masked"].inputs[0])
    ),
    rf"“(.+?)” sees “(.+?)”, so its (scaled |capped |biased )?score stays {N}": lambda cell, query, key, kind, number: (
        cell.is_at(query, key)
        and score_named(cell, kind)
        and cell.says(number)
        and cell.says(number, cell.trace["masked"].inputs[0])
    ),
    rf"“(.+?)” sees “(.+?)”: with what the mask adds, {N}, its masked score is {N}": is_moved,
    rf"“(.+?)” gives “(.+?)” {PERCENT}": lambda cell, query, key, *share: (
        cell.is_at(query, key) and is_share(cell, *share)
    ),
    r"“(.+?)” sees no key in head (\d+)": lambda cell, query, head: (
        cell.is_at(query, None, head) and not cell.trace["attention"].value[cell.index[:2]].any()
    ),
    rf"In {DIMENSION}, “(.+?)” collects {N}": lambda cell, at, query, number: (
        cell.is_at(query, at) and cell.says(number)
    ),
    rf"In {DIMENSION} of its row, “(.+?)” has {N}, copied from head (\d+)": lambda cell, at, query, number, head: (
        cell.is_at(query, at) and cell.says(number) and int(head) == cell.index[1] // cell.trace["heads"].shape[-1] + 1
    ),
    rf"Dimension (\d+) of the heads side by side, which is head (\d+)’s, {BY} {DIMENSION} of the output": (
        lambda cell, row, head, number, at: (
            cell.is_at(row, at)
            and cell.says(number)
            and int(head) == cell.index[0] // cell.trace["heads"].shape[-1] + 1
        )
    ),
    rf"{N} is added in {DIMENSION} of every (output|token)": lambda cell, number, at, made: (
        cell.own == {"output": "b_o", "token": "b_mlp"}[made]
        and cell.label(-1) == at
        and number == short(cell.number())
    ),
    rf"In {DIMENSION} of the output of “(.+?)”, head (\d+) adds {N}": lambda cell, at, query, head, number: (
        cell.is_at(query, at, head) and cell.says(number)
    ),
    rf"“(.+?)” leaves with {N} in {DIMENSION}": lambda cell, row, number, at: cell.is_at(row, at) and cell.says(number),
    rf"“(.+?)” goes on with {N} in {DIMENSION}": lambda cell, row, number, at: (
        cell.is_at(row, at) and cell.says(number)
    ),
    rf"Dimension (\d+) of what the MLP reads {BY} neuron (\d+)": lambda cell, row, number, at: (
        cell.own == "w_hidden" and cell.is_at(row, at) and cell.says(number)
    ),
    rf"Neuron (\d+) gets {N} more from every token": lambda cell, at, number: (
        cell.own == "b_hidden" and cell.label(-1) == at and number == short(cell.number())
    ),
    rf"Neuron (\d+) gets {N} from “(.+?)”": lambda cell, at, number, row: (
        cell.is_at(row, at) and cell.says(number, "hidden")
    ),
    rf"What neuron (\d+) passes on is multiplied by {N} and added in {DIMENSION}": lambda cell, row, number, at: (
        cell.own == "w_mlp" and cell.is_at(row, at) and cell.says(number)
    ),
    rf"In {DIMENSION} of “(.+?)”, the (?:neurons add|MLP adds) {N}": lambda cell, at, row, number: (
        cell.own == "mlp" and cell.is_at(row, at) and cell.says(number)
    ),
    rf"Dimension (\d+) of every token {BY} the logit of “(.+?)”": lambda cell, row, number, at: (
        cell.own == "w_u" and cell.is_at(row, at) and cell.says(number)
    ),
    rf"For “(.+?)”, “(.+?)” has the logit {N}": lambda cell, row, answer, number: (
        cell.is_at(row, answer) and cell.says(number)
    ),
    rf"For “(.+?)”, “(.+?)” has a probability of {PERCENT}": lambda cell, row, answer, *share: (
        cell.is_at(row, answer) and is_share(cell, *share)
    ),
    rf"You set the probability of “(.+?)” for “(.+?)” to {N} by hand": lambda cell, answer, row, number: (
        cell.is_at(row, answer) and cell.says(number) and is_set(cell)
    ),
    rf"This number is set to {N} by hand": lambda cell, number: is_set(cell) and is_number(cell, number),
}
"""How a story begins: whose number it is, where it stands, and the number."""


def is_share(cell, bound, sign, hundredths, large):
    return (
        large == short(cell.number()) or abs(cell.number()) >= 1e4
        if large
        else is_percent(cell, bound, sign, hundredths)
    )


def is_left(cell, bound, sign, hundredths, large):
    """Whether a share is what the row of attention leaves."""
    left = 100 * (1 - math.fsum(cell.row("attention")))
    if bound:
        return 0 < left < 1 if bound == "under " else 99 < left < 100
    return abs(int(hundredths) - left) <= 0.5 * (1 + 1e-9) and not sign


def is_number(cell, text):
    number = cell.whole[cell.name].value[cell.index]
    return text == ("−∞" if number == -np.inf else str(int(number)) if number.dtype == bool else short(number))


def is_set(cell):
    return cell.whole[cell.name].is_overridden(cell.index)


KINDS = {
    "learnt in training": "learnt",
    "written by hand": "built",
    "a random number, as nothing has been learnt yet": "drawn",
}
RANK = r"(tied for )?(\w+) of (\w+)"
CLAUSES = {
    rf"[,:] ({'|'.join(KINDS)})": lambda cell, said: cell.whole.origin.kind == KINDS[said],
    r": a random number, always the same for the same token and seed": lambda cell: not cell.whole.origin.title,
    rf": {N} from its embedding and {N} from its position": lambda cell, one, other: parts_add_up(
        cell, one, other, *(entered(cell, each) for each in ("embeddings", "positions"))
    ),
    r": its embedding, to which nothing is added": lambda cell: (
        cell.number(entered(cell, "embeddings")) == cell.number()
    ),
    r", as it is given": lambda cell: cell.whole[cell.name].is_given,
    rf": {N}, over the root of the mean of the row’s squares": lambda cell, read: (
        read == short(cell.inputs[0][cell.index]) and is_normed(cell)
    ),
    rf", which the norm makes of {N}": lambda cell, read: (
        read == short(cell.inputs[0][cell.index]) and isinstance(cell.whole[cell.name].operation, LayerNorm)
    ),
    rf"; content gives {N}, positions {N}": lambda cell, *said: parts_add_up(
        cell, *said, "content_scores", "position_scores"
    ),
    r", its latent times a column of parameters": lambda cell: "latent" in cell.whole[cell.name].inputs[0],
    r"; (?:of its (?:input|latent|query), |of what it (?:found|collected), )?(?:“(.+?)”|(dimension|neuron) (\d+)) "
    rf"adds {N} \({N} × {N}\), the rest {N}": is_largest_part,
    r", its input times a column of parameters(, and a bias)?": lambda cell, bias: len(cell.inputs) == 2 + bool(bias),
    r": its input, as it is": lambda cell: len(cell.inputs) == 1 and cell.number() == cell.inputs[0][cell.index[1:]],
    rf", {RANK}": lambda cell, *rank: is_ranked(cell, short(cell.number()), *rank),
    r", (tied for )?(\w+) of the (\w+) keys that it may see": lambda cell, *rank: (
        cell.sees() and is_ranked(cell, short(cell.number()), *rank)
    ),
    r", which the mask hides from it": lambda cell: not cell.sees(),
    r", its only key": lambda cell: len(cell.row()) == 1 and cell.sees(),
    r", the only key that it may see": lambda cell: cell.seen().sum() == 1 and cell.sees(),
    r", as scaling is switched off": lambda cell: np.array_equal(
        cell.trace["scores"].value, cell.trace["scaled"].value
    ),
    r": 1 is visible, 0 is hidden": lambda cell: (
        np.array_equal(
            np.broadcast_to(cell.trace["mask"].value, cell.trace["masked"].shape) == 0,
            np.isneginf(cell.trace["masked"].value),
        )
        or is_changed(cell)
    ),
    r"; −∞ hides a key": lambda cell: np.isneginf(cell.trace["masked"].value)[
        np.broadcast_to(np.isneginf(cell.trace["mask"].value), cell.trace["masked"].shape)
    ].all(),
    r", so its masked score is −∞": lambda cell: cell.number("masked") == -np.inf,
    r": its masked score is −∞, so its share is exactly 0": lambda cell: (
        cell.number("masked") == -np.inf and cell.number("attention") == 0
    ),
    rf": its (masked |scaled |capped |biased )?score, {N}, is {RANK}": is_scored,
    rf"\. Its dot product is {N}; dimension (\d+) alone contributes {N}": is_part_of_score,
    rf": it sees no other key, and the sink takes {PERCENT} of its row": lambda cell, *share: (
        cell.seen().sum() == 1 and cell.seen()[cell.index[-1]] and is_left(cell, *share)
    ),
    r", with that of the sink": lambda cell: "sinks" in cell.trace,
    r": its running output after the last block, over its running sum": lambda cell: math.isclose(
        cell.number() * cell.trace["running_sum"].value[*cell.index[:-1], -1],
        cell.trace["running_output"].value[*cell.index[:-1], -1, cell.index[-1]],
        abs_tol=1e-12,
    ),
    rf"\. The sink takes {PERCENT} of its row": lambda cell, *share: is_left(cell, *share),
    rf": its score {N} counts in the sum as a key’s does\. It has no value, so nothing is collected for it": (
        lambda cell, score: score == short(cell.inputs[1][cell.index[0]])
    ),
    rf", with the gain {N}": lambda cell, gain: gain == short(float(cell.inputs[1][cell.index[-1]])),
    r", as it sees no other key": lambda cell: (
        cell.seen().sum() == 1 and cell.seen()[cell.index[-1]] and cell.number() == 1
    ),
    r": its (masked |scaled |capped |biased )?score "
    rf"{N} over {N}, the sum of its row": lambda cell, kind, score, total: (
        score_named(cell, kind)
        and cell.says(score, "masked")
        and total == short(math.fsum(cell.row("masked")[cell.seen()]))
    ),
    rf", as you set it by hand; its row now adds up to {N}": lambda cell, total: (
        is_set(cell) and total == short(math.fsum(cell.row()))
    ),
    rf"; its row now adds up to {N}": lambda cell, total: total == short(math.fsum(cell.row())),
    r", so it gives nothing to any": lambda cell: not cell.row("attention").any(),
    rf", so it collects nothing: {N} in {DIMENSION}": lambda cell, number, at: (
        cell.says(number) and cell.label(-1) == at
    ),
    rf", all of it from “(.+?)” \({N} × {N}\)": is_all_from,
    rf"; head (\d+) adds {N} to this number": lambda cell, head, added: (
        added == short(cell.trace["contributions"].value[(int(head) - 1, *cell.index)])
    ),
    rf": {N} entered the layer, attention adds {N}": lambda cell, *said: parts_add_up(cell, *said, "x", "output"),
    rf": {N} was there, the MLP adds {N}": lambda cell, *said: parts_add_up(cell, *said, "residual", "mlp"),
    r"; its bias is the largest part of that": lambda cell: abs(cell.bias) >= max(abs(np.multiply(*cell.factors))),
    rf" and passes on {N}": lambda cell, number: cell.own == "active" and cell.says(number),
    rf": its logit {N} is {RANK}": is_ranked,
    r": there is no other answer": lambda cell: len(cell.row()) == 1,
    r"; what follows is recomputed": is_set,
}
"""What a story goes on with, by the words that it says it in."""


def is_changed(cell):
    """Whether a stage of the mask is set by hand, so that what is seen isn't what the mask says."""
    return any(change.stage.startswith("masked") for change in cell.whole.changes)
