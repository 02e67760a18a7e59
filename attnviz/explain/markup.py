"""Markup: a text as runs, each with one style, so that whoever shows it needs to read no markup.

A small part of Markdown is enough for what we write ourselves. What a person
typed is never read as markup: it enters through a slot, as a run of style "word".
What follows the selection enters as a run too, which the browser fills in: of
style "story", with stories instead of a text (`attnviz.explain.story.selection_story`).
Where a model's verdict stands (`attnviz.explain.steps.answer.verdict`), which follows
the numbers, there is an empty run of style "verdict".
"""

import re

Runs = list[list]
"""Pairs of a style and a text. The style is one of STYLES; or "story", with stories; or "verdict", with nothing."""

STYLES = ("", "strong", "em", "code", "math", "q", "k", "v", "output", "word")
"""The style of a run: plain, Markdown's, LaTeX, strong in the colour of a role, or a person's own word."""

_ROLES = {"blue": "q", "orange": "k", "green": "v", "violet": "output"}
_MARKED = re.compile(
    rf":(?P<role>{'|'.join(_ROLES)})\[(?:\*\*)?(?P<coloured>[^\]*]+)(?:\*\*)?\]"
    r"|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*]+)\*|`(?P<code>[^`]+)`|\$(?P<math>[^$]+)\$|\{(?P<slot>\w+)\}"
)


def runs(text: str, **words: str | list) -> Runs:
    """A text of our own as runs; each slot in it is filled with one of a person's words, or with a run.

    Examples
    --------
    >>> runs("each :blue[**query**] of $X$")
    [['', 'each '], ['q', 'query'], ['', ' of '], ['math', 'X']]
    >>> runs("what “{word}” asks", word="*cat*")
    [['', 'what “'], ['word', '*cat*'], ['', '” asks']]
    """
    parts, end = [], 0
    for marked in _MARKED.finditer(text):
        parts.append(["", text[end : marked.start()]])
        parts.append(_run(marked, words))
        end = marked.end()
    return [run for run in [*parts, ["", text[end:]]] if run[1]]


def _run(marked: re.Match[str], words: dict[str, str | list]) -> list:
    if marked["slot"]:
        word = words[marked["slot"]]
        return ["word", word] if isinstance(word, str) else word
    if marked["role"]:
        return [_ROLES[marked["role"]], marked["coloured"]]
    return [marked.lastgroup, marked[marked.lastgroup]]
