"""Terms of what a layer has beside attention: stream, norms, MLP, biases."""

from attnviz.explain.glossary.term import Term

LAYERS = (
    Term(
        "residual stream",
        r"\bresidual(?: stream)?\b",
        "What a {unit} holds from layer to layer: each step adds to it, and nothing is put in its place.",
        "Its width is {residual:length} here.",
        "Addition",
    ),
    Term(
        "MLP",
        r"\bMLP\b",
        "Two matrices with neurons between them, applied to each {unit} by itself.",
        "Its neurons here: {hidden:length}.",
    ),
    Term(
        "neuron",
        r"\bneurons?\b",
        "One number in the middle of the MLP, which fires where it finds its pattern.",
        "Here {active:positive} are above 0.",
    ),
    Term(
        "fire",
        r"\bfires?\b|\bfiring\b",
        "A neuron fires where what it passes on is not 0.",
        "Here {active:positive} are above 0.",
    ),
    Term(
        "ReLU",
        r"\bReLU\b",
        "Keeps what is above 0, and makes 0 of the rest.",
        "Here it makes {active} of {hidden}.",
        "ReLU",
    ),
    Term(
        "GELU",
        r"\bGELU\b",
        "Like the ReLU with a round corner: each number times the part of a normal distribution below it.",
        "Here it makes {active} of {hidden}.",
        "GELU",
    ),
    Term(
        "RMSNorm",
        r"\bRMSNorm\b|\bnorm(?:s|ed)?\b",
        "Divides each row by its size, the root of the mean of its squares.",
        "The length of a row is {x:length} here.",
        "RMSNorm",
    ),
    Term(
        "LayerNorm",
        r"\bLayerNorm\b",
        "Takes its mean from each row, and divides what is left by its size.",
        "The length of a row is {x:length} here.",
        "LayerNorm",
    ),
    Term("bias", r"\bbias(?:es)?\b", "A row of parameters that is added to every row, whatever is in it."),
    Term("gain", r"\bgain\b(?! the)", "A parameter for each dimension, which a norm multiplies by."),
)
