"""Vocabulary: one word, one symbol and one colour for each stage, wherever it is shown."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["q", "k", "v", "output", ""]


@dataclass(frozen=True)
class Entry:
    """How a stage is called and drawn.

    Attributes
    ----------
    symbol : str
        LaTeX of a small grammar (^ and _ only); `_i` stands for the head.
    title : str
    meaning : str
        A clause that finishes "It holds ...".
    role : str
        Whose colour it wears: "q", "k", "v", "output", or none.
    scale : {"signed", "share", "flag"}
        Diverging around zero, sequential from 0 to 1, or visible and hidden.
    """

    symbol: str
    title: str
    meaning: str
    role: Role = ""
    scale: Literal["signed", "share", "flag"] = "signed"


VOCABULARY = {
    "embeddings": Entry("E", "Embeddings", "a vector for each word"),
    "positions": Entry("P", "Positions", "a vector for each place in the sentence"),
    "x": Entry("X", "Input", "what is projected: embeddings, with positions added if there are any"),
    "context_embeddings": Entry("E^C", "Context embeddings", "a vector for each word of the context"),
    "context_positions": Entry("P^C", "Context positions", "a vector for each place in the context"),
    "context": Entry("C", "Context", "what keys and values are projected from"),
    "w_q": Entry("W^Q_i", "Query parameters", "each head's matrix that makes queries", "q"),
    "w_k": Entry("W^K_i", "Key parameters", "each head's matrix that makes keys", "k"),
    "w_v": Entry("W^V_i", "Value parameters", "each head's matrix that makes values", "v"),
    "w_o": Entry("W^O", "Output parameters", "the matrix that mixes the heads", "output"),
    "b_q": Entry("b^Q_i", "Query bias", "what is added to every query", "q"),
    "b_k": Entry("b^K_i", "Key bias", "what is added to every key", "k"),
    "b_v": Entry("b^V_i", "Value bias", "what is added to every value", "v"),
    "b_o": Entry("b^O", "Output bias", "what is added to every output", "output"),
    "q": Entry("Q_i", "Queries", "what each token asks", "q"),
    "k": Entry("K_i", "Keys", "what each token answers to", "k"),
    "v": Entry("V_i", "Values", "what each token hands over", "v"),
    "scores": Entry("S_i", "Scores", "each query's dot product with each key"),
    "scaled": Entry("Z_i", "Scaled scores", "the scores over the square root of d_k"),
    "mask": Entry("M", "Mask", "which keys a query sees", scale="flag"),
    "masked": Entry("Z^M_i", "Masked scores", "the scaled scores, -inf where a key is hidden"),
    "attention": Entry("A_i", "Attention", "the share of its attention that a query gives each key", scale="share"),
    "heads": Entry("H_i", "Head outputs", "each head's mixture of values", "v"),
    "concat": Entry("H", "Concatenation", "the heads' outputs side by side", "v"),
    "contributions": Entry("O_i", "Contributions", "each head's own part of the output", "output"),
    "output": Entry("O", "Output", "what leaves: one vector for each query", "output"),
}

AXES = {
    "token": "tokens",
    "context token": "context tokens",
    "query": "queries",
    "key": "keys",
    "head": "heads",
    "d_model": "d_model",
    "d_k": "d_k",
    "d_v": "d_v",
    "heads * d_k": "heads · d_k",
    "heads * d_v": "heads · d_v",
}
"""What each axis is called on the screen."""


def symbol(name: str, head: int | None = None) -> str:
    """The stage's symbol, for one head (counted from 0) if given."""
    text = VOCABULARY[name].symbol
    return text if head is None else text.replace("_i", f"_{{{head + 1}}}" if head >= 9 else f"_{head + 1}")
