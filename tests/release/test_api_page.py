"""docs/api.md: it is what its generator writes, and each public name has its parameters and an example that runs."""

import dataclasses
import doctest
import inspect
import re
from pathlib import Path

import pytest

import attnviz
import attnviz.testing
from docs import write_api

TEXT = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
ENTRIES = dict(re.findall(r"^####? (?:class )?`([\w.]+)`\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_api_page_is_current():
    assert write_api.page() == TEXT, "python docs/write_api.py writes it again"


@pytest.mark.parametrize("name", [*attnviz.__all__, "assert_attention"])
def test_api_page_has_an_example_of(name):
    called = re.findall(r"^(?:>>>|\.\.\.) .*", ENTRIES[name], re.MULTILINE)
    assert called
    if f"```text\n{name}(" in ENTRIES[name]:
        assert any(f"{name}(" in line for line in called)


def test_api_page_has_all_of_testing():
    functions = inspect.getmembers(attnviz.testing, inspect.isfunction)
    ours = {name for name, each in functions if each.__module__ == "attnviz.testing" and not name.startswith("_")}
    assert ours == {"assert_attention"}


def described(text):
    """The names that lists of an entry have with a type and a description."""
    lines = re.findall(r"^- (\*\*`.*?`\*\*): `[^`]+`\. \S", text, re.MULTILINE)
    return {name for line in lines for name in re.findall(r"`\**(\w+)`", line)}


@pytest.mark.parametrize("name", ENTRIES)
def test_api_page_describes_what_goes_in_and_out_of(name):
    documented = write_api.public(name.partition(".")[0])
    for each in name.split(".")[1:]:
        documented = getattr(documented, each)
    if dataclasses.is_dataclass(documented):
        expected = {each.name for each in dataclasses.fields(documented) if not each.name.startswith("_")}
    elif inspect.isclass(documented):
        expected = set(getattr(documented, "_fields", ()))
    else:
        call = inspect.signature(documented)
        expected = {*call.parameters} - {"self"}
        has_result = "**Returns**" in ENTRIES[name] or "**Yields**" in ENTRIES[name]
        assert has_result or call.return_annotation in (None, "None")
    assert expected - described(ENTRIES[name]) == set()


EXAMPLES = {name: "\n".join(re.findall(r"```pycon\n(>>> .*?)```", text, re.DOTALL)) for name, text in ENTRIES.items()}
WITH_TORCH = {name for name, code in EXAMPLES.items() if "torch" in code}


@pytest.mark.parametrize("name", [name for name, code in EXAMPLES.items() if code and name not in WITH_TORCH])
def test_api_page_example_runs(name):
    """Each by itself, from an empty namespace."""
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, "docs/api.md", 0)
    assert any(each.want for each in example.examples)
    assert doctest.DocTestRunner(optionflags=OPTIONS).run(example).failed == 0


@pytest.mark.parametrize("name", sorted(WITH_TORCH))
def test_api_page_example_runs_with_torch(name):
    """Where torch is installed, as in `.ci/torch`."""
    assert "*With PyTorch:*" in ENTRIES[name]
    pytest.importorskip("torch")
    test_api_page_example_runs(name)
