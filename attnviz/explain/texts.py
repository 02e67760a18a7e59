"""A pass of two texts, as in translation: what a layer does with them, and what they are called in sentences."""

from __future__ import annotations

from attnviz.core.trace import Trace, cached_by_template


def of_two_texts(trace: Trace) -> bool:
    """Whether the pass has an encoder, which reads one text, and a decoder, which writes another."""
    return trace.has_encoder


def encodes(trace: Trace) -> bool:
    """Whether this is a layer of an encoder."""
    return trace.has_encoder and trace["x"].axes[0] == "context token"


def writes(trace: Trace) -> bool:
    """Whether this is a layer in which the text of a decoder attends to itself."""
    return trace.has_encoder and not encodes(trace) and not crosses(trace)


def crosses(trace: Trace) -> bool:
    """Whether this is a layer in which a decoder reads what an encoder has made."""
    return trace.has_encoder and "context" in trace


def sides(trace: Trace) -> tuple[str, str]:
    """What the texts of a layer's queries and of its keys are called: French and English; empty for a single text."""
    if not trace.has_encoder:
        return "", ""
    if trace.origin.sides:
        return trace.origin.sides[-1]
    return "source" if encodes(trace) else "target", "target" if writes(trace) else "source"


_AFTER = {
    "“{query}” gives “{key}” the score {value}": "after “{query}”, “{key}” has the score {value}",
    "“{query}” gives “{key}”": "after “{query}”, “{key}” gets",
    "“{query}” scores {value} with “{key}”": "after “{query}”, “{key}” scores {value}",
    ", which the mask hides from it": ", though the mask hides it",
    "keys that it may see": "keys that may be seen",
    "The scaled score of “{query}” with “{key}”": "after “{query}”, the scaled score of “{key}”",
    "The score of “{query}” with “{key}”": "after “{query}”, the score of “{key}”",
    "hidden from “{query}”": "hidden from what comes after “{query}”",
    "“{query}” sees “{key}”": "after “{query}”, “{key}” is seen",
    "“{answer}” for “{query}”": "“{answer}” after “{query}”",
    "found for “{word}”": "found for what comes after “{word}”",
    "“{word}” asks with": "the row of “{word}” asks what comes next, with",
    **{f"“{{row}}” {does} with": f"the row of “{{row}}” {does} with" for does in ("asks", "goes on")},
    **{f"“{{query}}” {does}": f"the row of “{{query}}” {does}" for does in ("collects", "leaves with", "sees no key")},
}


def worded(trace: Trace, text: str) -> str:
    """The text on a number of a layer. Where a decoder reads, the row of a word makes the one that is written after it:
    there "“{query}” gives “{key}” 9 %" is "after “{query}”, “{key}” gets 9 %".
    """
    for said, after in _AFTER.items() if crosses(trace) else ():
        text = text.replace(said, after)
    return text


def query_noun(trace: Trace) -> str:
    """What a token of the queries is called: a French word."""
    return f"{sides(trace)[0]} {trace.origin.unit}".strip()


def key_noun(trace: Trace) -> str:
    """What a token of the keys is called: an English word."""
    return f"{sides(trace)[1]} {trace.origin.unit}".strip()


_ENTERS = {  # what enters for each text: its title and its meaning
    "embeddings": ("embeddings", "a vector for each {} token"),
    "positions": ("positions", "a vector for each position in the {} text"),
    "x": ("input", "what enters of the {} text: embeddings, with positions added if there are any"),
}


@cached_by_template
def input_titles(trace: Trace) -> dict[str, tuple[str, str, str]]:
    """For each stage by which one of two texts enters: its title, what one number is called, and its meaning."""
    found = {}
    for layer in trace.layers if trace.has_encoder else ():
        if layer.names["x"] in ("x", "context"):
            side = sides(layer.trace)[0]
            for own, (what, holds) in _ENTERS.items():
                if own in layer.names:
                    found[layer.names[own]] = f"{side.capitalize()} {what}", f"{side} {what}", holds.format(side)
    return found
