"""A room as a state machine: in any order of events followers are where the speaker is, and an answer counts once."""

import bisect
import json
import math
import random
import re
import unicodedata
from urllib.parse import parse_qsl

import msgspec
import pytest
from documents import fitted_at
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from attnviz.classroom import commands, http, room_entry
from attnviz.classroom import room as room_module
from attnviz.classroom.answer_tables import is_right
from attnviz.classroom.codes import LENGTH, LETTERS, code_in, hash_of, new_code, new_seat, seat_age
from attnviz.classroom.commands import Place, Takes, read, to_json
from attnviz.classroom.http import TokenBuckets, network_of
from attnviz.classroom.questions import moment_at, place_in
from attnviz.classroom.room import (
    ANSWER_SECONDS,
    LATEST_PRESSES,
    OFFER_SECONDS,
    SECONDS,
    Room,
    RoomError,
    is_text,
    one_line,
)
from attnviz.classroom.rooms import LiveRoom
from attnviz.contract.classroom import CellQuestion
from attnviz.contract.lesson import Fill
from attnviz.lessons.talk import TalkMoment

PLACES = [
    Place("model=who-is-it&step=scores"),
    Place("model=who-is-it&step=softmax"),
    Place("lesson=a&moment=1", takes=Takes(n_choices=3)),
    Place("lesson=a&moment=2", takes=Takes(is_share=True)),
    Place("lesson=a&moment=3", takes=Takes()),
    Place("", is_own=True),
    Place("model=who-is-it&step=scores", takes=Takes(n_choices=2), moment='{"at": "a"}'),
    Place("model=who-is-it&step=scores", moment='{"at": "b"}'),
    Place("model=who-is-it&step=scores", takes=Takes(is_text=True), moment='{"at": "c"}'),
]
HOG = "192.0.2.7"
MAKE = commands.Make(time=0.0, code="KTQWRM", key=hash_of("key"), link=hash_of("link"), seat="speaker")
TEXTS = ["the cat", "a", "n" * 140, "कि"]
NO_TEXTS = ["", " ", " a", "a\n", "two  spaces", "n" * 141, "b\u202ea", "\u2066a\u2069", "\0", "e\u0301", "\u200d"]
VALUES = st.one_of(st.integers(-2, 5), st.floats(), st.sampled_from([0, 1, 0.5, True, *TEXTS, *NO_TEXTS]))


class Class(RuleBasedStateMachine):
    """A room beside the simplest model of one: where the speaker is, and who said what last in which round."""

    seats = Bundle("seats")

    def __init__(self):
        super().__init__()
        self.room, self.log = Room.from_command(MAKE), [to_json(MAKE)]
        self.now = ANSWER_SECONDS  # as any clock is past it
        self.place, self.n_moves, self.shown, self.shows_class = None, 0, False, False
        self.said, self.sure, self.rounds, self.open, self.last = {}, {}, {}, {}, {}
        self.takes_questions, self.until, self.shown_texts = False, -math.inf, set()
        self.asked = {}  # of each listener: what, when, and who wants an answer

    def do(self, kind, **parts):
        """Whether a command was done; what was refused has changed nothing."""
        command = kind(time=self.now, **parts)
        before = repr(self.room)
        try:
            self.room.apply(command)
        except RoomError:
            assert repr(self.room) == before
            return False
        self.log.append(to_json(command))
        return True

    @initialize(target=seats, place=st.sampled_from([*PLACES, *7 * PLACES[-1:]]))
    def begin(self, place):
        self.move(place, False)
        self.allow_questions(True)
        return multiple(self.join(), self.join())

    @rule(target=seats)
    def join(self):
        seat = f"seat {len(self.room.seats)}"
        assert self.do(commands.Join, seat=seat)
        return seat

    @rule(seat=seats)
    def come_back(self, seat):
        """A phone that slept, left or lost its network has its seat still, and its answers."""
        before = self.room.seats[seat]
        assert self.do(commands.Join, seat=seat)
        assert self.room.seats[seat] == before

    @rule(seconds=st.floats(0, 100))
    def wait(self, seconds):
        self.now += seconds

    @rule(place=st.sampled_from(PLACES), is_shown=st.booleans(), shows_class=st.booleans())
    def move(self, place, is_shown, shows_class=False):
        assert self.do(commands.Move, place=place, is_shown=is_shown, shows_class=shows_class)
        if place != self.place or (place.takes and (is_shown or shows_class)):
            self.until = -math.inf
        self.n_moves += place != self.place
        self.place, self.shown, self.shows_class = place, is_shown, shows_class
        if place.takes:
            self.rounds.setdefault(place, 1)
            was = self.open.get(place, True)  # "hidden" if it is closed as long as the class's answers are shown
            self.open[place] = bool(was) and not is_shown and (True if not shows_class else "hidden")

    @rule(is_open=st.booleans())
    def open_or_close(self, is_open):
        may = self.asks() and not ((self.shown or self.shows_class) and is_open)
        assert self.do(commands.Open, is_open=is_open) == may
        if may:
            self.open[self.place] = is_open

    @rule()
    def ask_again(self):
        may = self.asks() and not self.shown and self.rounds[self.place] == 1
        assert self.do(commands.Again) == may
        if may:
            self.rounds[self.place], self.open[self.place], self.until = 2, True, -math.inf

    @rule(seconds=st.sampled_from([0, 60, 90, 120]))
    def talk_to_your_neighbour(self, seconds):
        may = self.asks() and not (self.shown and seconds)
        assert self.do(commands.Wait, seconds=seconds) == may
        if may:
            self.open[self.place], self.until = False, self.now + seconds if seconds else -math.inf

    @rule(is_on=st.booleans())
    def allow_questions(self, is_on):
        assert self.do(commands.AllowQuestions, is_on=is_on)
        self.takes_questions = is_on

    @rule(seat=seats, text=st.sampled_from([*TEXTS, *NO_TEXTS]), late=st.booleans())
    def wonder(self, seat, text, late):
        self.now += 10 * late
        before, when, _ = self.asked.get(seat, (None, -math.inf, None))
        is_early = self.now - when < 10 and text not in ("", before)
        may = self.takes_questions and text in (*TEXTS, "") and not is_early
        assert self.do(commands.Wonder, seat=seat, text=text) == may
        if may and text != before:
            self.asked[seat] = text, self.now if text or before is None else when, set()
            self.shown_texts.discard(seat)

    @rule(seat=seats, was=st.sampled_from(TEXTS), now=st.sampled_from(TEXTS), late=st.booleans())
    def change_a_shown_text(self, seat, was, now, late):
        self.wonder(seat, was, True)
        if self.asks() and self.place.takes.is_text:
            self.answer(seat, was, True, 3)
        self.show_the_texts_of_one(seat, True)
        self.wonder(seat, now, late)
        if self.asks() and self.place.takes.is_text:
            self.answer(seat, now, late, 0)

    @rule(seat=seats, of=seats, is_on=st.booleans())
    def vote(self, seat, of, is_on):
        may = self.takes_questions and of in self.shown_texts
        id_ = self.room.wondered[of].id if of in self.asked else 0
        assert self.do(commands.Vote, seat=seat, id=id_, is_on=is_on) == may
        if may:
            (self.asked[of][2].add if is_on else self.asked[of][2].discard)(seat)

    @rule(seat=seats, is_shown=st.booleans())
    def show_the_texts_of_one(self, seat, is_shown):
        answer, ids = self.here(seat), []
        if seat in self.asked:
            ids.append(self.room.wondered[seat].id)
            self.change_shown(seat, is_shown and self.asked[seat][0])
        if answer in self.said and self.place.takes.is_text:
            ids.append(self.room.question.ids[seat])
            self.change_shown(answer, is_shown)
        assert self.do(commands.ShowTexts, ids=[*ids, self.room.n_texts + 1], is_shown=is_shown)

    @rule(is_shown=st.booleans())
    def show_all_answers_or_hide_everything(self, is_shown):
        assert self.do(commands.ShowTexts, is_shown=is_shown)
        if not is_shown:
            self.shown_texts.clear()
        elif self.asks() and self.place.takes.is_text:
            self.shown_texts |= {each for each in self.said if each[:2] == self.here("")[:2]}

    @rule(seat=seats, value=VALUES, late=st.booleans(), sure=st.integers(0, 3))
    def answer(self, seat, value, late, sure):
        if late:
            self.now += ANSWER_SECONDS
        asked = {"question": self.question(), "round": self.rounds.get(self.place, 1)}
        is_early = self.now - self.last.get(seat, -math.inf) < ANSWER_SECONDS
        here, asked["sure"] = self.here(seat), sure
        is_same = self.asks() and (self.said.get(here), self.sure.get(here, 0)) == (value, sure)
        may = self.asks() and self.open[self.place] is True and self.fits(value) and (is_same or not is_early)
        done = self.do(commands.Answer, seat=seat, value=value, **asked)
        assert done == may
        if done:
            assert self.do(commands.Answer, seat=seat, value=value, **asked), "what is sent twice counts once"
            if self.said.get(here) != value:
                self.shown_texts.discard(here)
            self.said[here], self.sure[here] = value, sure
            self.last[seat] = self.now

    def question(self):
        """Which question of the room is asked; 0 if none is."""
        return [*self.rounds, self.place].index(self.place) if self.asks() else 0

    @rule(seat=seats, question=st.integers(0, 3), nth=st.integers(1, 3))
    def answer_what_is_over(self, seat, question, nth):
        if not self.asks() or (question, nth) != (self.question(), self.rounds[self.place]):
            assert not self.do(commands.Answer, seat=seat, value=0, question=question, round=nth)

    @rule(seat=seats, nth=st.integers(0, 2), sure=st.integers(0, 3))
    def answer_what_is_asked(self, seat, nth, sure):
        if self.asks():
            takes = self.place.takes
            self.answer(seat, TEXTS[nth] if takes.is_text else nth % 2, True, sure)

    @rule(value=VALUES)
    def answer_without_a_seat(self, value):
        question, nth = self.question(), self.rounds.get(self.place, 1)
        assert not self.do(commands.Answer, seat="nobody", value=value, question=question, round=nth)

    @rule(what=st.sampled_from(["next", "back", "answers", "reveal"]))
    def press(self, what):
        """Another device presses what the presented page reads; it may hear of the latest presses at once."""
        before, may = self.room.presses, self.place is not None
        assert self.do(commands.Press, what=what) == may
        assert self.room.presses == ((*before, what)[-LATEST_PRESSES:] if may else before)

    @rule(device=st.sampled_from(["one", "other"]))
    def pair_and_forget(self, device):
        """A paired device leads until it is forgotten, with the code that is offered; the first page always does."""
        self.do(commands.OfferDevice, code="CCCCCC")
        assert self.do(commands.PairDevice, code="CCCCCC", key=hash_of(device), seat=device)
        self.do(commands.OfferDevice, code="DDDDDD")
        assert self.room.speakers == ("speaker", device)
        assert self.do(commands.ForgetDevices)
        assert [self.room.has_key(each) for each in ("key", device)] == [True, False]
        assert (self.room.speakers, self.room.forgotten[-1]) == (("speaker",), device)
        assert not self.do(commands.PairDevice, code="DDDDDD", key=hash_of(device), seat="another")

    @rule(seat=seats, cell=st.sampled_from(["scores[0,1,2]", "q[0,1,1]", ""]))
    def point(self, seat, cell):
        self.do(commands.Point, seat=seat, cell=cell)

    @rule()
    def kill(self):
        """Another process has nothing but what was done, and knows the same."""
        made, *rest = map(read, self.log)
        room = Room.from_command(made)
        for each in rest:
            room.apply(each)
        assert repr(room) == repr(self.room)
        self.room = room

    @invariant()
    def followers_are_where_the_speaker_is(self):
        assert (self.room.place, self.room.is_shown) == (self.place, self.shown)
        assert self.room.number == self.n_moves

    @invariant()
    def each_answer_counts_once(self):
        found = {
            (place, nth, seat): value
            for place, question in self.room.questions.items()
            for nth, answers in enumerate(question.rounds, start=1)
            for seat, value in answers.items()
        }
        assert found == self.said
        for question in self.room.questions.values():
            for counts, answers in zip(question.counts, question.rounds, strict=True):
                assert sum(n for _, n in counts) == len(answers)

    @invariant()
    def sure_and_moves_are_those_of_a_slow_loop(self):
        for place, question in self.room.questions.items():
            for nth, found in enumerate(question.sure_counts, start=1):
                in_round = [each for each in self.said if each[:2] == (place, nth)]
                pairs = [(self.said[each], self.sure[each]) for each in in_round if self.sure[each]]
                assert found == [(*pair, pairs.count(pair)) for pair in sorted({*pairs})]
            first, second = ({each[2]: self.said[each] for each in self.said if each[:2] == (place, n)} for n in (1, 2))
            moved = [(first[seat], second[seat]) for seat in first if seat in second]
            assert question.moves == [(*pair, moved.count(pair)) for pair in sorted({*moved})]

    @invariant()
    def a_text_is_shown_where_the_speaker_shows_it_and_nowhere_else(self):
        live, is_text = LiveRoom(self.room), self.asks() and self.place.takes.is_text
        follower, speaker = (json.loads(live.event(is_speaker)[1]) for is_speaker in (False, True))
        answers = [(self.said[each], each in self.shown_texts) for each in self.said if each[:2] == self.here("")[:2]]
        assert sorted((each["text"], each["isShown"]) for each in speaker["audience"]["texts"]) == sorted(
            answers if is_text else []
        )
        questions = [(text, len(votes), seat in self.shown_texts) for seat, (text, _, votes) in self.asked.items()]
        wondered = [(each["text"], each["votes"], each["isShown"]) for each in speaker["audience"]["wondered"]]
        assert sorted(wondered) == sorted(each for each in questions if each[0])
        assert [each[1] for each in wondered] == sorted((each[1] for each in wondered), reverse=True)
        shown = [each[:2] for each in wondered if each[2]]
        wonders = follower.pop("wonders")
        assert (wonders is not None) == self.takes_questions
        assert [(each["text"], each["votes"]) for each in wonders or []] == (shown if self.takes_questions else [])
        written = {text for text in TEXTS if len(text) > 1}
        assert not [text for text in written if text in json.dumps(follower, ensure_ascii=False)]

    @invariant()
    def the_time_to_talk_is_what_is_left(self):
        assert self.room.talks_until == max(self.until, 0.0)

    def here(self, seat):
        return self.place, self.rounds.get(self.place, 1), seat

    def change_shown(self, text, is_shown):
        (self.shown_texts.add if is_shown else self.shown_texts.discard)(text)

    def asks(self):
        return self.place is not None and self.place.takes is not None

    def fits(self, value):
        takes = self.place.takes
        if takes.is_text or isinstance(value, str):
            return takes.is_text and value in TEXTS
        if isinstance(value, bool):
            return False
        if takes.n_choices:
            return isinstance(value, int) and value in range(takes.n_choices)
        return math.isfinite(value) and ((0 <= value <= 1) if takes.is_share else abs(value) <= 1e12)


Class.TestCase.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
TestClass = Class.TestCase


def room():
    return Room.from_command(MAKE)


ANSWERS = [
    (Takes(n_choices=3), [0, 2], [3, -1, True, 1.0]),
    (Takes(is_share=True), [0, 1, 0.5], [1.01, -0.01, True, math.nan]),
    (Takes(), [-1e12, 1e12, 3], [1.01e12, math.inf, math.nan, True, "3"]),
    (Takes(is_text=True), TEXTS, [*NO_TEXTS, 3, 0.5, True]),
]


@pytest.mark.parametrize(("takes", "valid", "invalid"), ANSWERS)
def test_a_question_takes_its_own_kind_of_answer_alone(takes, valid, invalid):
    question = room_module.Question(Place("", takes=takes))
    assert all(map(question.takes, valid))
    assert not any(map(question.takes, invalid))


def test_a_room_ends_when_the_speaker_ends_it_or_two_hours_after_the_last_move():
    own, join = room(), commands.Join(time=SECONDS + 1.0, seat="late")
    with pytest.raises(RoomError, match="has ended"):
        own.apply(join)
    own.apply(commands.Move(time=60.0, place=PLACES[0]))
    own.apply(join)
    own.apply(commands.End(time=SECONDS + 2.0))
    with pytest.raises(RoomError, match="has ended"):
        own.apply(commands.Move(time=SECONDS + 3.0, place=PLACES[0]))


def test_what_followers_see_is_asked_for_again_only_where_it_is_another_pass_or_question():
    own, seen = room(), []
    lesson = Place("lesson=a&moment=1", takes=Takes(n_choices=3))
    for place in (*PLACES[:2], Place("model=recall&step=softmax"), lesson, PLACES[0], *PLACES[-2:]):
        own.apply(commands.Move(time=1.0, place=place))
        seen.append(own.shows)
    assert seen == [1, 1, 3, 4, 5, 6, 7]


def test_a_second_code_lets_one_device_in_for_a_while():
    own = room()
    take = commands.PairDevice(time=OFFER_SECONDS + 2.0, code="BCDFGH", key=hash_of("other"), seat="other")
    own.apply(commands.OfferDevice(time=1.0, code="BCDFGH"))
    with pytest.raises(RoomError, match="too old"):
        own.apply(take)
    own.apply(commands.OfferDevice(time=2.0, code="BCDFGH"))
    own.apply(take)
    assert own.has_key("other")
    assert "other" in own.speakers
    with pytest.raises(RoomError, match="used"):
        own.apply(commands.PairDevice(time=5.0, code="BCDFGH", key=hash_of("third"), seat="third"))


def test_a_room_keeps_hashes_of_its_secrets():
    own = room()
    assert own.has_key("key")
    assert own.has_link("link")
    assert not own.has_key(hash_of("key")), "who reads what is kept can't speak"
    assert "'key'" not in repr(own)


ASKED = {
    ("sentence=the cat sat on&heads=2", "share", "attention[1,2,0]"): (
        "What share of its attention does “sat” give to “the”, in head 2? Within 5 points counts as right."
    ),
    ("sentence=the cat sat on&heads=1", "word", "attention[0,2,0]"): "Which word does “sat” look at most?",
    ("model=recall", "word", "scores_2[0,5,2]"): "Which word does “1” have the largest score with, in layer 2?",
    ("model=translator&sentence=the black cat sleeps", "word", "attention_3[0,2,0]"): (
        "Which English word does “chat” look at most, in “French reads English”?"
    ),
    ("model=recall", "number", "attention_2[0,5,2]"): (
        "Which number stands in Attention of layer 2 at “1”, “d”? Within 0.01 counts as right."
    ),
    ("sentence=the cat sat on&heads=2", "number", "q[1,2,0]"): (
        "Which number stands in Queries at head 2, “sat”, dimension 1? Within 0.02 counts as right."
    ),
    ("sentence=the cat sat on&heads=4&sharing=pairs", "number", "k[1,2,1]"): (
        "Which number stands in Keys at group 2, “sat”, dimension 2? Within 0.01 counts as right."
    ),
    ("model=microgpt&sentence=eliza", "word", "scores[0,5,2]"): (
        "Which letter does “a” have the largest score with, in head 1?"
    ),
    ("model=microgpt&sentence=eliza", "number", "hidden[3,40]"): (
        "Which number stands in Neurons at “i”, neuron 41? Within 0.02 counts as right."
    ),
}


def test_a_question_of_a_cell_names_it_and_has_its_answer():
    for (at, kind, cell), asked in ASKED.items():
        at = f"?{at.replace(' ', '+')}"
        question = json.loads(moment_at(place_in(at, CellQuestion(kind=kind, cell=cell))))["question"]
        assert "".join(text for _, text in question["prompt"]) == asked
        trace = fitted_at(dict(parse_qsl(at[1:]))).trace
        stage, index = re.fullmatch(r"(\w+)\[([\d,]+)\]", cell).groups()
        *row, last = map(int, index.split(","))
        numbers = trace[stage].value[tuple(row)].tolist()
        if kind == "word":
            assert question["right"] == [numbers.index(max(numbers))]
        else:
            assert question["right"] == numbers[last]


def test_a_class_sees_gaps_and_worked_lines_and_is_not_asked():
    gaps = {"kind": "gaps", "prompt": "?", "words": ["the", "cat"]}
    gaps |= {"rows": [{"name": "score", "of": ["scores[cat, the]", "scores[cat, cat]"], "gaps": ["cat"]}]}
    for part in ({"ask": gaps}, {"worked": ["2 = 2", "3 = 3"]}):
        place = place_in("", moment=msgspec.convert({"at": "sentence=the+cat+sat&heads=1"} | part, TalkMoment))
        shown = json.loads(moment_at(place))
        assert place.takes is None
        assert [shown["question"] is not None, len(shown["worked"])] == ["ask" in part, 2 * ("worked" in part)]
        own = room()
        own.apply(commands.Move(time=0.0, place=place))
        with pytest.raises(RoomError, match="Nothing is asked"):
            own.apply(commands.Open(time=0.0, is_open=True))


def asked(at, kind, cell):
    return json.loads(moment_at(place_in(f"?{at.replace(' ', '+')}", CellQuestion(kind=kind, cell=cell))))


def test_who_multiplies_what_a_class_is_shown_for_a_query_or_a_score_has_the_answer():
    at = "sentence=the cat sat on the mat&heads=4&sharing=pairs&rope=halves&layers=2&step=qkv-2"
    for cell in ("q_2[3,1,1]", "k_2[1,4,0]", "v_2[0,5,1]", "scores_2[3,1,4]", "heads_1[2,0,1]", "output_2[5,7]"):
        moment = asked(at, "number", cell)
        (table,), question = moment["workedSolution"]["tables"], moment["question"]
        pairs = [[float(text.replace("−", "-")) for text in numbers] for _, *numbers in table["lines"]]
        total = sum(one * other for one, other in pairs)
        assert abs(total - question["right"]) <= question["tolerance"] <= 0.02 + 0.05 * abs(question["right"])


def test_no_score_that_a_class_sees_is_largest_at_the_word_that_it_is_asked_for():
    at = "sentence=a cat sat on the mat&heads=2&alibi=true&softcap=5"
    trace = fitted_at(dict(parse_qsl(at))).trace
    rows = [stage for stage in trace.stages if stage.axes == ("head", "query", "key")]
    assert {"scores", "scaled", "capped", "biased", "masked", "attention"} <= {stage.name for stage in rows}
    for stage in ("scores", "scaled", "masked", "attention"):
        for query in range(6):
            moment = asked(at, "word", f"{stage}[1,{query},0]")
            seen = [each for each in rows if each.name not in moment["covers"]]
            assert moment["question"]["right"] == [int(trace[stage].value[1, query].argmax())]
            assert not [each.name for each in seen if [each.value[1, query].argmax()] == moment["question"]["right"]]


REFUSED = {
    ("number", "w_q[0,1,0]"): "given",
    ("number", "embeddings[1,0]"): "given",
    ("number", "masked[0,1,2]"): "hides",
    ("share", "attention[0,1,2]"): "hides",
    ("share", "attention[0,0,0]"): "or all others",
}


@pytest.mark.parametrize(("kind", "cell"), REFUSED)
def test_nobody_is_asked_for_what_is_given_or_hidden(kind, cell):
    with pytest.raises(RoomError, match=REFUSED[kind, cell]):
        asked("sentence=the cat sat on&heads=2&mask=causal", kind, cell)


def test_a_code_is_read_in_either_case_and_has_no_look_alikes():
    assert (len(set(LETTERS)), LETTERS) == (20, LETTERS.upper())
    assert not set("AEIOULI01") & set(LETTERS)
    code = new_code()
    assert len(code) == LENGTH
    assert code_in(code.lower()) == code
    assert [code_in(each) for each in ("audit", "KTQWR", "KTQWRMB", "KTQWRA", "ktqwr1", "")] == [None] * 6


def as_new(buckets):
    return TokenBuckets(buckets.burst, 1 / buckets.seconds, buckets.longest_wait)


def test_a_network_that_guesses_has_two_hours_for_what_the_arithmetic_says():
    """It asks as often as it can: a code is read at once, in its turn, or not at all."""
    codes, now, ends, n_read, last, free = as_new(room_entry.CODES), 0.0, [], 0, 0.0, 0
    while now < SECONDS:
        wait = codes.take(HOG, now)
        if wait is None:
            now += 0.05
            continue
        assert 0 <= wait <= 10 + 1e-6
        assert now + wait >= last, "in order"
        last, n_read, free = now + wait, n_read + 1, free + (wait == 0)
        ends.append(last)
    assert free == 30
    assert n_read == pytest.approx(30 + 9 * (SECONDS + 10), abs=2)
    assert max(bisect.bisect_left(ends, start + 1) - n for n, start in enumerate(ends[30:], start=30)) <= 10
    assert round(100 * n_read / len(LETTERS) ** LENGTH, 1) == 0.1
    assert codes.take("198.51.100.7", now) == 0, "another network may"


@pytest.mark.parametrize("buckets", ["CODES", "SEATS", "LINKS", "NEW_ROOMS", "MESSAGES"])
def test_no_network_does_more_than_its_burst_and_its_rate_allow(buckets):
    own, draw, now = getattr(room_entry, buckets), random.Random(1), 1_000.0
    fresh, taken = as_new(own), []
    for _ in range(5 * own.burst):
        now += draw.choice([0.0, 0.0, own.seconds / 2, own.seconds * draw.randrange(4)])
        wait = fresh.take(HOG, now)
        if wait is None:
            assert fresh.wait(HOG, now) > own.longest_wait
        else:
            taken.append(now + wait)
            assert now + wait <= now + own.longest_wait + 1e-6
    for n, start in enumerate(taken):
        in_a_minute = bisect.bisect_left(taken, start + 60) - n
        assert in_a_minute <= own.burst + 60 / own.seconds + 1
    assert fresh.take(HOG, now + own.burst * own.seconds + 20) == 0, "after a while all is as at the beginning"


def test_a_school_that_types_right_codes_uses_up_nothing():
    codes = as_new(room_entry.CODES)
    for _ in range(500):
        assert codes.take(HOG, 0.0) == 0
        codes.give_back(HOG)
    for _ in range(30):
        assert codes.take(HOG, 0.0) == 0
    assert codes.take(HOG, 0.0) == pytest.approx(1 / 9)


def test_only_so_many_networks_are_remembered(monkeypatch):
    monkeypatch.setattr(http, "MAX_NETWORKS", 100)
    buckets, n_taken = TokenBuckets(2, 1 / 1_000_000), 0
    for n in range(1_000):
        buckets.take(f"network {n}", n)
        n_taken += buckets.take(HOG, n) is not None
        assert len(buckets._full_at) <= 100
    assert n_taken == 2, "one that asks on is not forgotten"


def test_a_network_is_an_address_or_in_ipv6_the_first_half_of_one():
    assert network_of("192.0.2.7") == network_of("::ffff:192.0.2.7") != network_of("192.0.2.8")
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db8:0:1::1")
    assert network_of("no address") == "no address"


def test_a_seat_is_one_that_the_room_gave_out_and_says_how_long_ago():
    key, other = hash_of("key"), hash_of("other")
    seat = new_seat(key, 1_000.9)
    assert len(seat) <= 64, "as requests have it"
    assert seat_age(seat, key, 1_060) == 60
    assert len({new_seat(key, 0) for _ in range(100)}) == 100
    given, time, mark = seat.split(".")[1], *seat.split(".")[::2]
    for forged in (
        f"ffff.{given}.{mark}",
        f"{time}.{given[::-1]}.{mark}",
        f"{time}.{given}.{mark[:-1]}",
        f"{time}.{given}.",
        given,
        "",
        "é.é.é",
    ):
        assert seat_age(forged, key, 1_000) == math.inf, forged
    assert seat_age(seat, other, 1_000) == math.inf, "another room's"


def test_a_room_that_remembers_all_its_seats_forgets_the_oldest_that_never_said_anything(monkeypatch):
    monkeypatch.setattr(room_module, "MAX_SEATS", 5)
    own = room()
    own.apply(commands.Move(time=0.0, place=Place("lesson=a&moment=1", takes=Takes(n_choices=3))))
    for seat in "abcd":
        own.apply(commands.Join(time=1.0, seat=seat))
    own.apply(commands.Answer(time=2.0, seat="a", question=0, round=1, value=0))
    own.apply(commands.Point(time=2.0, seat="b", cell="scores[0,1,2]"))
    own.apply(commands.Join(time=3.0, seat="e"))
    assert list(own.seats) == ["speaker", "a", "b", "d", "e"]
    own.apply(commands.Join(time=3.0, seat="d"))
    assert list(own.seats) == ["speaker", "a", "b", "d", "e"], "who is back takes nobody's"
    for seat, when in (("d", 4.0), ("e", 5.0)):
        own.apply(commands.Answer(time=when, seat=seat, question=0, round=1, value=0))
    with pytest.raises(RoomError, match="have answered"):
        own.apply(commands.Join(time=6.0, seat="f"))
    assert own.question.counts == [[(0, 3)]]


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 3.0])
def test_a_number_counts_as_right_as_far_off_as_its_question_says_and_no_further(tolerance):
    question = Fill(prompt=[], right=2.0, text="2", tolerance=tolerance, is_share=False, nears=[])
    for sign in (-1, 1):
        assert is_right(question, 2.0 + sign * tolerance * (1 - 1e-9))
        assert not is_right(question, 2.0 + sign * (tolerance * (1 + 1e-9) + 1e-9))


@given(st.text())
def test_a_cleaned_text_is_one_line_of_visible_characters_and_stays_as_it_is(text):
    cleaned = one_line(text)
    assert one_line(cleaned) == cleaned
    assert is_text(cleaned) == (0 < len(cleaned) <= 140)
    assert not [
        each for each in cleaned if unicodedata.category(each) in ("Cc", "Cf", "Cs") and each not in "\u200c\u200d"
    ]
    assert cleaned == unicodedata.normalize("NFC", cleaned)


def test_what_people_said_is_gone_with_the_room():
    own = room()
    own.apply(commands.Join(time=0.0, seat="a"))
    own.apply(commands.Move(time=1.0, place=PLACES[-1]))
    own.apply(commands.AllowQuestions(time=1.0, is_on=True))
    own.apply(commands.Answer(time=2.0, seat="a", question=0, round=1, value="hostile words"))
    own.apply(commands.Wonder(time=3.0, seat="a", text="hostile words"))
    own.apply(commands.End(time=4.0))
    assert "hostile" not in repr(own)
