"""The answers of a class as CSV: what each table says is what the seats said, and no table says who they are."""

import csv
import io

import pytest

from attnviz.classroom import answer_tables, commands
from attnviz.classroom.answer_tables import SURE, counts_table, seats_table
from attnviz.classroom.codes import new_seat
from attnviz.classroom.commands import Place, Takes
from attnviz.classroom.room import Room
from attnviz.contract.lesson import Candidate, Choose, Fill, Write

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "＝1"]
SEATS = [new_seat("key", n) for n in range(12)]
LABELS = [Candidate(label=text, feedback=[]) for text in ("=yes", "no")]
NUMBER = {"text": "", "tolerance": 0.05, "nears": []}
QUESTIONS = {
    Place("a", takes=Takes(n_choices=2)): Choose(prompt=[("", "=opinion")], candidates=LABELS, right=[]),
    Place("b", takes=Takes(is_share=True)): Fill(prompt=[("", "Share?")], right=0.57, is_share=True, **NUMBER),
    Place("c", takes=Takes()): Fill(prompt=[("", "Any?")], right=None, is_share=False, **NUMBER),
    Place("d", takes=Takes(is_text=True)): Write(prompt=[("", "+Why?")]),
}
ANSWERS = {
    "a": lambda n: n % 2,
    "b": lambda n: n / 100 + 0.5,
    "c": lambda n: n - 0.5,
    "d": lambda n: f"{FORMULAS[n % 5]}, {n}",
}


@pytest.fixture
def room(monkeypatch):
    """A class in which everybody but one seat answered everything, and some said how sure they were."""
    monkeypatch.setattr(answer_tables, "question_at", QUESTIONS.__getitem__)
    own = Room.from_command(commands.Make(code="KTQWRM", key="", link="", seat="speaker"))
    for seat in SEATS:
        own.apply(commands.Join(seat=seat))
    for nth, place in enumerate(QUESTIONS, start=1):
        own.apply(commands.Move(time=10.0 * nth, place=place))
        for n, seat in enumerate(SEATS[1:]):
            value = ANSWERS[place.at](n)
            told = {"question": nth - 1, "round": 1, "value": value, "sure": n % 4 if place.at == "b" else 0}
            own.apply(commands.Answer(time=10.0 * nth, seat=seat, **told))
    return own


def read(text):
    return list(csv.reader(io.StringIO(text)))


def test_a_row_a_seat_has_what_that_seat_said_and_neither_the_seat_nor_its_turn(room):
    head, *rows = read(seats_table(room))
    assert head == ["seat", "1. '=opinion", "2. Share? (%)", "2. How sure, 1 to 3", "3. Any?", "4. '+Why?"]
    assert [row[0] for row in rows] == [str(n) for n in range(1, len(SEATS))], "who said nothing has no row"
    labels = ["'=yes", "no"]
    expected = [
        [labels[n % 2], float(50 + n), str(n % 4 or ""), str(n - 0.5), f"'{ANSWERS['d'](n)}"]
        for n in range(len(SEATS) - 1)
    ]
    found = sorted([row[1], float(row[2]), *row[3:]] for row in rows)
    assert found == sorted(expected)
    orders = {tuple(row[5] for row in read(seats_table(room))[1:]) for _ in range(5)}
    assert len(orders) > 1, "numbered anew"
    parts = {part for seat in SEATS for part in (seat, *seat.split(".")[1:])}
    assert not [part for part in parts if part in seats_table(room) + counts_table(room)]


def test_counts_are_of_all_and_say_who_was_sure_and_right(room):
    head, *lines = read(counts_table(room))
    entries = [dict(zip(head, line, strict=True)) for line in lines]
    by_question = {
        prompt: [each for each in entries if each["question"] == prompt] for prompt in {e["question"] for e in entries}
    }
    assert {prompt: sum(int(each["count"]) for each in of) for prompt, of in by_question.items()} == dict.fromkeys(
        ["'=opinion", "Share?", "Any?", "'+Why?"], len(SEATS) - 1
    )
    assert {each["right"] for prompt in ("'=opinion", "Any?", "'+Why?") for each in by_question[prompt]} == {""}
    for each in by_question["Share?"]:
        n = round(float(each["answer (%)"])) - 50
        assert (each["answer"], each["right"]) == ("", "yes" if abs(n - 7) <= 5 else "no")
        assert [each[how] for how in SURE] == ["1" if n % 4 == nth else "" for nth in (1, 2, 3)]


def test_no_cell_is_run_as_a_formula(room):
    for table in (seats_table(room), counts_table(room)):
        cells = [cell for line in read(table) for cell in line]
        numbers = [cell for cell in cells if cell.lstrip("-").replace(".", "").isdigit()]
        assert not [each for each in cells if each.startswith(tuple("=+-@＝")) and each not in numbers]
