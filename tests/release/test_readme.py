"""The README: its code runs, and what it says of the models is so."""

import re
from urllib.parse import parse_qsl

import pytest
from page import ROOT

from attnviz.examples import EXAMPLES
from attnviz.examples.printout import Agreement
from attnviz.lessons.lesson import LESSONS
from attnviz.models import MODELS
from attnviz.scene.address import parse

README = (ROOT / "README.md").read_text("utf-8")
CODE = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("code", CODE, ids=lambda code: code.split()[1])
def test_its_code_runs(code, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for what it writes
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert printed
    for name, number in re.findall(r"# (\w+): (\d\.\d), all others 0.0", code):
        assert f"'{name}': np.float64({number})" in printed
        assert printed.count("np.float64(0.0)") == len(MODELS["who-is-it"].task.answers) - 1


def test_the_models_are_as_large_and_read_as_much_as_it_says():
    sizes = {name: sum(array.size for array in model.at(0).arrays.values()) for name, model in MODELS.items()}
    assert f"a model of {sizes['who-is-it']} numbers" in README
    longest = {name: model.at(0).longest for name, model in MODELS.items() if model.at(0).positions is not None}
    assert f"at most {longest.pop('mirror')} (Mirror), {longest.pop('recall')} (Associative recall)" in README
    assert f"{min(longest.values())} to {max(longest.values())} tokens where they have positions" in README
    for name in ("who-is-it", "mirror", "recall", "by-hand"):
        assert f"**{MODELS[name].title}**" in README


def test_there_are_as_many_lessons_of_such_length_as_it_says():
    names = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    minutes = [each.minutes for each in LESSONS.values()]
    count = names[len(LESSONS)]
    assert f"in {count} short lessons" in README
    assert f"{count} **lessons**, of {names[min(minutes)]} to {names[max(minutes)]} minutes each" in README


def test_each_address_is_that_of_a_page_and_is_read_whole():
    addresses = re.findall(r"https://attnviz\.example\.edu/(\w+)\?([^\"]+)", README)
    assert addresses
    for page, parameters in addresses:
        assert (ROOT / "pages" / f"{page}.py").exists()
        ours = {name: value for name, value in parse_qsl(parameters) if name != "embed"}  # which is Streamlit's
        assert parse(ours).notices == ()


def test_the_printed_numbers_are_counted_as_it_says():
    every = Agreement.of(number for example in EXAMPLES.values() for number in example.numbers)
    assert (
        f"They print {every.n_numbers:,} numbers. {every.n_to_the_digit:,} agree to the last digit: {every.n_inputs} "
        f"of these are inputs themselves, {every.n_labels} are labels, and the others were computed again. "
        f"{every.n_within_slack} agree within rounding; {every.n_apart} cannot come from the code shown."
    ) in README
