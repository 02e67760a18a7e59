"""Sentences on flips: one number per stage whose change turns an answer, or the order of two attention weights."""

import math
from collections.abc import Sequence

from attnviz.analysis.flips import BELOW, TRIAL_SIZES, Flip, StageFlip
from attnviz.analysis.row_ranking import RowRanking
from attnviz.core.stage import ancestors, split_layer
from attnviz.core.trace import Trace
from attnviz.explain.steps import entry, full_title, layer_name
from attnviz.explain.texts import crosses
from attnviz.explain.wording import percent

# what replaces the headline and the list if the search raised an error
FAILED = (
    "The search for the smallest change failed, so nothing is said here about what would flip it. That is a fault of "
    "attnviz: please report it with the address of this page."
)


def headline(trace: Trace, contest: RowRanking) -> str:
    """The text above the list of flips: who leads now, or that nobody does."""
    leader, rival, where = _leader(trace, contest), _label(trace, contest, contest.rivals[0]), _where(trace, contest)
    shares = trace[contest.stage].value[contest.row]
    each = (
        "For each stage, the one number that turns this with the smallest change that was found. We try each number at "
        f"{len(TRIAL_SIZES)} step sizes in both directions, then refine {BELOW} times; a flip that "
        "undoes itself between two steps can be missed."
    )
    if not contest.is_won(shares):
        return f"{where} several are ahead alike, so there is nothing to turn."
    if _is_answer(trace, contest):
        return f"{where} the answer is {leader}, with {percent(shares[contest.leader])}. {each}"
    first, second = (percent(shares[place]) for place in (contest.leader, contest.rivals[0]))
    return f"{where} {leader} has a larger attention weight, {first}, than {rival}, {second}. {each}"


def sentences(trace: Trace, contest: RowRanking, stage_flips: Sequence[StageFlip]) -> list[tuple[StageFlip, str]]:
    """A sentence per stage, or one for several stages if the same change of each has the same effect. So it is if a
    stage is passed on or added to another, such as embeddings and the input.
    """
    groups: dict[str, list[StageFlip]] = {}
    for each in stage_flips:
        first = next((name for name, (one, *_) in groups.items() if _is_same(trace, one, each)), each.stage)
        groups.setdefault(first, []).append(each)
    return [(one, " ".join([sentence(trace, contest, one), *_same(trace, others)])) for one, *others in groups.values()]


def _is_same(trace: Trace, one: StageFlip, other: StageFlip) -> bool:
    """Whether the same change of a number and of one computed from it flips the row."""
    if (
        not one.flip
        or not other.flip
        or one.stage not in {stage.name for stage in ancestors(trace.stages, other.stage)}
    ):
        return False
    changes = [each.flip.turns - each.flip.cell.value for each in (one, other)]
    apart = max(abs(each.flip.turns - each.flip.stays) for each in (one, other))
    is_same_cell = one.flip.cell.index == other.flip.cell.index and one.flip.winner == other.flip.winner
    return is_same_cell and math.isclose(*changes, rel_tol=0, abs_tol=2 * apart)


def _same(trace: Trace, others: Sequence[StageFlip]) -> list[str]:
    names = [full_title(each.stage, trace) for each in others]
    return [f"The same change does it in {' and in '.join(names)}."] if names else []


def sentence(trace: Trace, contest: RowRanking, stage_flip: StageFlip) -> str:
    """A sentence on the change that flips a contest in one stage and on the last value that doesn't; or on none.

    >>> from attnviz.analysis.row_ranking import ranking_of
    >>> from attnviz.analysis.flips import flips
    >>> from attnviz.models import MODELS
    >>> trace = MODELS["who-is-it"].at(0).trace("the animal did not cross the street because it was too tired")
    >>> contest = ranking_of(trace, "probabilities", (11, 0))
    >>> scores = next(each for each in flips(trace, contest) if each.stage == "scores")
    >>> sentence(trace, contest, scores)
    'scores[head 1, tired, animal] from 56.71 to 30.15 turns the answer to “horse”; at 30.16 “animal” stays ahead.'
    """
    title = full_title(stage_flip.stage, trace)
    if stage_flip.flip:
        return _turning(trace, contest, stage_flip.flip)
    if stage_flip.is_unconfirmed:
        return f"{title}: the search found a change that does not turn it when it is set, so there is no answer here."
    if not stage_flip.most:
        return f"{title}: too large to try each of its numbers."
    scale = entry(stage_flip.stage).scale
    tried = {"flag": "hiding or showing one key", "share": "a value from 0 to 1"}
    sizes = f"changes of {len(TRIAL_SIZES)} sizes, up to {stage_flip.most:g}"
    return f"{title}: nothing that was tried turns it, {tried.get(scale) or sizes}."


def _turning(trace: Trace, contest: RowRanking, flip: Flip) -> str:
    leader, winner = _leader(trace, contest), _label(trace, contest, flip.winner)
    turns = f"turns the answer to {winner}" if _is_answer(trace, contest) else f"puts {winner} ahead of {leader}"
    if trace[flip.cell.stage].value.dtype == bool:
        *head, query, key = trace.names_at(flip.cell.stage, flip.cell.index)
        act = "Showing" if flip.turns else "Hiding"
        layer = split_layer(flip.cell.stage)[1]
        places = [*head, *([layer_name(trace, layer)] if layer else [])]
        sight = "to" if flip.turns else "from"
        sight += " what comes after" * crosses(trace.layer_of(flip.cell.stage).trace)
        return f"{act} “{key}” {sight} “{query}”{''.join(f' in {n}' for n in places)} {turns}."
    if flip.between == "sharp":
        near = f"{flip.turns:.6g}".replace("e+", "e").replace("-", "−")
        return f"{trace.name_of(flip.cell)} {turns} near {near}: no short number stands on either side."
    now, to, still = (_format(value, flip.stays, flip.turns) for value in (flip.cell.value, flip.turns, flip.stays))
    tie = ", and in between they tie" * (flip.between == "tie")
    return f"{trace.name_of(flip.cell)} from {now} to {to} {turns}; at {still} {leader} stays ahead{tie}."


def _format(value: float, stays: float, turns: float) -> str:
    """A number with as many decimals as the two sides of a threshold; with three digits if these have an exponent."""
    sides = repr(stays), repr(turns)
    if any("e" in side for side in sides):
        text = repr(value) if value in (stays, turns) else f"{value:.2e}"
    else:
        text = f"{value:.{max(len(side.removesuffix('.0').partition('.')[2]) for side in sides)}f}"
    return text.replace("e+", "e").replace("-", "−")


def _is_answer(trace: Trace, contest: RowRanking) -> bool:
    return trace[contest.stage].axes[-1] == "answer"


def _leader(trace: Trace, contest: RowRanking) -> str:
    return _label(trace, contest, contest.leader)


def _label(trace: Trace, contest: RowRanking, place: int) -> str:
    return f"“{trace.axes(contest.stage)[-1].label(place)}”"


def _where(trace: Trace, contest: RowRanking) -> str:
    *head, query = trace.names_at(contest.stage, contest.row)
    begins = "After" if crosses(trace.layer_of(contest.stage).trace) else "For"
    return f"{begins} “{query}”{''.join(f' in {each}' for each in head)}"
