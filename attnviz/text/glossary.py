"""Glossary: each term of the field that stands on a screen, in one sentence, with a number of the pass.

Whoever adds an operation adds its term: `Term.operation` names it (`tests/test_glossary.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from attnviz.core.trace import Trace
from attnviz.text.markup import runs
from attnviz.text.story import Story, selection_story
from attnviz.text.wording import counted

Number = Callable[[Trace], str] | str


@dataclass(frozen=True)
class Term:
    """A term of the field.

    Attributes
    ----------
    id : str
    pattern : str
        A regular expression, of Python and JavaScript alike, that finds it in a text in either case.
    says : str
        One sentence, in our markup; `{unit}` is what a token is called.
    here : callable or str
        Its number in a pass: written from the shapes of a layer, or a story (`text/story`) of the selected numbers.
        Nothing, of a term whose number only a scene knows (`measured`).
    needs : tuple of str
        The stages of the layer without which it has no number there.
    operation : str
        The class of the operation that it is, if it is one.
    """

    id: str
    pattern: str
    says: str
    here: Number = ""
    needs: tuple[str, ...] = ()
    operation: str = ""


def _length(name: str) -> Callable[[Trace], str]:
    return lambda layer: f"Here it has {counted(layer[name].shape[-1], 'number')}."


def _shape(name: str) -> Callable[[Trace], str]:
    return lambda layer: "Here it is " + " × ".join(map(str, layer[name].shape[-2:])) + "."


def _d_k(layer: Trace) -> str:
    d_k = layer["k"].shape[-1]
    return f"d_k = {d_k} here, √d_k = {math.sqrt(d_k):.3g}."


def _n_parameters(trace: Trace) -> str:
    n = sum(stage.size for stage in trace.stages if stage.is_given and stage.name.startswith(("w_", "b_", "g_")))
    return f"Here there are {n:,}."


TERMS = (
    Term(
        "query",
        r"\bquer(?:y|ies)\b",
        "What a {unit} looks for, as a vector: it is compared with the keys.",
        _length("q"),
        ("q",),
    ),
    Term(
        "key",
        r"\bkeys?\b",
        "What a {unit} is found by, as a vector: queries are compared with it.",
        _length("k"),
        ("k",),
    ),
    Term(
        "value",
        r"\bvalues?\b",
        "What a {unit} passes on to those that look at it, as a vector.",
        _length("v"),
        ("v",),
    ),
    Term(
        "score",
        r"\bscores?\b",
        "How well a query and a key match: their dot product.",
        "“{query}” scores {scores} with “{key}”.",
        ("scores",),
    ),
    Term(
        "scaling",
        r"\bscal(?:ed|ing|e)\b",
        "Multiplying every score by the same number, mostly 1/√d_k, so that scores do not spread more as d_k grows.",
        "Here {scores} is scaled to {scaled}.",
        ("scores", "scaled"),
        "Scale",
    ),
    Term(
        "share",
        r"\bshares?\b",
        "How much of its attention a query gives to one key.",
        "“{query}” gives “{key}” {attention:percent}.",
        ("attention",),
    ),
    Term(
        "attention",
        r"\battention\b",
        "In which shares a {unit} takes in what others pass on.",
        "“{query}” gives “{key}” {attention:percent}.",
        ("attention",),
    ),
    Term(
        "softmax",
        r"\bsoftmax\b",
        "Makes shares of numbers: exp of each, over the sum of all these.",
        "Here it makes {attention:percent} of {masked}.",
        ("attention", "masked"),
        "Softmax",
    ),
    Term(
        "rows over their sums",
        r"\brows? over (?:its|their) sums?\b|\bover their sum\b",
        "Each score over the sum of its row: shares without exp, which may be negative.",
        "Here it makes {attention} of {masked}.",
        ("attention", "masked"),
        "SumNormalise",
    ),
    Term(
        "head",
        r"\bheads?\b",
        "One attention with queries, keys and values of its own; several look for different things at once.",
        lambda layer: f"Here there {'is' if layer['heads'].shape[0] == 1 else 'are'} {layer['heads'].shape[0]}.",
        ("heads",),
    ),
    Term(
        "W_O",
        r"\bW_O\b|\boutput parameters\b",
        "The matrix of parameters that makes the output of what the heads found.",
        _shape("w_o"),
        ("w_o",),
    ),
    Term(
        "contribution",
        r"\bcontributions?\b",
        "What one head adds to the output: what it found, times its own rows of W_O.",
        "Of the selected head it begins with {contributions}.",
        ("contributions",),
        "Contributions",
    ),
    Term(
        "concatenation",
        r"\bconcatenation\b|\bside by side\b",
        "Rows written one after the other as one longer row, without adding anything up.",
        lambda layer: f"Here the row has {layer['concat'].shape[-1]} numbers.",
        ("concat",),
        "Concatenation",
    ),
    Term(
        "unchanged",
        r"\bas (?:it is|they are)\b",
        "Nothing is computed: the same numbers are passed on.",
        operation="Identity",
    ),
    Term(
        "parameter",
        r"\bparameters?\b",
        "A number that training sets; all others are computed from parameters and the {unit}s.",
        _n_parameters,
    ),
    Term(
        "projection",
        r"\bprojections?\b|\bprojected\b",
        "A row times a matrix of parameters: each column of the matrix makes one number.",
        _shape("w_q"),
        ("w_q",),
        "Projection",
    ),
    Term(
        "weighted sum",
        r"\bweighted sums?\b|\bmixture\b",
        "Each value times its share, added up.",
        "“{key}” counts {attention:percent} here.",
        ("attention",),
        "WeightedSum",
    ),
    Term(
        "dot product",
        r"\bdot products?\b",
        "Two vectors, multiplied dimension by dimension and added up.",
        lambda layer: f"Here it adds {counted(layer['k'].shape[-1], 'product')}.",
        ("k",),
        "DotProducts",
    ),
    Term(
        "embedding",
        r"\bembeddings?\b",
        "The row of numbers that stands for a {unit}.",
        _length("embeddings"),
        ("embeddings",),
    ),
    Term("unembedding", r"\bunembedding\b", "The matrix with a column for each answer.", _shape("w_u"), ("w_u",)),
    Term("d_k", r"\bd_k\b", "How many numbers a query has, and a key.", _d_k, ("k",)),
    Term(
        "d_v",
        r"\bd_v\b",
        "How many numbers a value has.",
        lambda layer: f"d_v = {layer['v'].shape[-1]} here.",
        ("v",),
    ),
    Term(
        "d_model",
        r"\bd_model\b",
        "How many numbers stand for a {unit} between the layers.",
        lambda layer: f"d_model = {layer['x'].shape[-1]} here.",
        ("x",),
    ),
    Term(
        "dimension",
        r"\bdimensions?\b",
        "One place of a vector: dimension 2 is its second number.",
        lambda layer: f"A query has {layer['q'].shape[-1]} here.",
        ("q",),
    ),
    Term(
        "position",
        r"\bpositions?\b",
        "Where a {unit} stands, counted from 1.",
        lambda layer: f"Here the last is {layer['scores'].shape[-1]}.",
        ("scores",),
    ),
    Term(
        "token",
        r"\btokens?\b",
        "What a text is cut into: here a {unit}.",
        lambda layer: f"There are {layer['scores'].shape[-1]}.",
        ("scores",),
    ),
    Term(
        "residual stream",
        r"\bresidual(?: stream)?\b",
        "What a {unit} holds from layer to layer: each step adds to it, and nothing is put in its place.",
        lambda layer: f"Here it is {layer['residual'].shape[-1]} numbers wide.",
        ("residual",),
        "Addition",
    ),
    Term(
        "MLP",
        r"\bMLP\b",
        "Two matrices with neurons between them, applied to each {unit} by itself.",
        lambda layer: f"Here it has {counted(layer['hidden'].shape[-1], 'neuron')}.",
        ("hidden",),
    ),
    Term(
        "neuron",
        r"\bneurons?\b",
        "One number in the middle of the MLP, which fires where it finds its pattern.",
        "Here {active:positive} are above 0.",
        ("active",),
    ),
    Term(
        "fire",
        r"\bfires?\b|\bfiring\b",
        "A neuron fires where what it passes on is not 0.",
        "Here {active:positive} are above 0.",
        ("active",),
    ),
    Term(
        "ReLU",
        r"\bReLU\b",
        "Keeps what is above 0, and makes 0 of the rest.",
        "Here it makes {active} of {hidden}.",
        ("hidden", "active"),
        "ReLU",
    ),
    Term(
        "GELU",
        r"\bGELU\b",
        "Like the ReLU with a round corner: each number times the part of a normal distribution below it.",
        "Here it makes {active} of {hidden}.",
        ("hidden", "active"),
        "GELU",
    ),
    Term(
        "RMSNorm",
        r"\bRMSNorm\b|\bnorm(?:s|ed)?\b",
        "Divides each row by its size, the root of the mean of its squares.",
        lambda layer: f"Here each row has {layer['x'].shape[-1]} numbers.",
        ("x",),
        "RMSNorm",
    ),
    Term(
        "LayerNorm",
        r"\bLayerNorm\b",
        "Takes its mean from each row, and divides what is left by its size.",
        lambda layer: f"Here each row has {layer['x'].shape[-1]} numbers.",
        ("x",),
        "LayerNorm",
    ),
    Term("bias", r"\bbias(?:es)?\b", "A row of parameters that is added to every row, whatever is in it."),
    Term("gain", r"\bgain\b(?! the)", "A parameter for each dimension, which a norm multiplies by."),
    Term(
        "mask",
        r"\bmask(?:s|ed)?\b",
        "Hides keys from queries: a hidden key has the score −∞, and so the share 0.",
        "For “{query}” and “{key}” it leaves {masked}.",
        ("masked",),
        "Hide",
    ),
    Term("causal", r"\bcausal\b", "A mask that hides later {unit}s, which a model that writes on cannot have read."),
    Term("padding", r"\bpadding\b", "Fillers that make texts equally long; a mask hides them."),
    Term("window", r"\bwindow\b", "A mask that leaves near {unit}s alone to be seen."),
    Term(
        "logit",
        r"\blogits?\b",
        "The score of an answer, before the softmax makes a probability of it.",
        "“{answer}” has {logits}.",
        ("logits",),
    ),
    Term(
        "probability",
        r"\bprobabilit(?:y|ies)\b|\bprobable\b",
        "How likely an answer is to the model; those of all answers add up to 1.",
        "“{answer}” has {probabilities:percent}.",
        ("probabilities",),
    ),
    Term(
        "layer",
        r"\blayers?\b",
        "One round of attention, and of an MLP where the model has one.",
        lambda layer: f"Here there {'is' if layer.n_layers == 1 else 'are'} {layer.n_layers}.",
    ),
    Term("loss", r"\bloss\b", "The mean of −ln of the probability that the right answer had: less is better."),
    Term("nats", r"\bnats?\b", "The unit of a loss: e to it is the number of answers one is as unsure between."),
    Term("held-out", r"\bheld[- ]out\b", "Kept out of training, to see what was learnt and not learnt by heart."),
    Term("checkpoint", r"\bcheckpoints?\b", "The parameters as they were after so many steps of training."),
    Term("BOS", r"\bBOS\b", "“Beginning of sequence”: the token before the first letter, which ends a text, too."),
    Term("seed", r"\bseeds?\b", "Where random numbers begin: from the same seed the same are drawn."),
    Term(
        "temperature",
        r"\btemperature\b",
        "What logits are divided by before one draws: above 1 rare answers come up more.",
    ),
    Term("top-k", r"\btop[- ]k\b", "Draw among the k most probable answers alone."),
    Term("top-p", r"\btop[- ]p\b", "Draw among the most probable answers that together have the probability p."),
    Term("muted", r"\bmuted?\b", "Set to 0, so that one sees what the rest does without it."),
    Term("initialiser", r"\binitialisers?\b", "How parameters are drawn before anything is learnt."),
    Term("one-hot", r"\bone-hot\b", "A vector with a single 1, at the place of its {unit}, and 0 elsewhere."),
    Term(
        "sinusoidal",
        r"\bsinusoidal\b|\bsines\b",
        "Made of sines and cosines of the position, in waves of many lengths.",
    ),
    Term("random", r"\brandom\b", "Drawn, not learnt: the same seed draws the same numbers again."),
    Term("slope", r"\bslopes?\b", "By how much a number grows, for each 1 that another is raised by."),
    Term(
        "indices",
        r"^[a-z]\w*(?=\[)",
        "A number’s address: in brackets the head if there is one, then the row, then the column.",
        "scores[{head}, {query}, {key}] is {scores}.",
        ("scores",),
    ),
)
"""In no order: of each the first place on a screen is marked."""


def glossary(trace: Trace) -> list[dict]:
    """The terms as data, each with its number in the last layer of a trace, if it has one there."""
    return [
        {"id": term.id, "pattern": term.pattern, "said": runs(term.says.replace("{unit}", trace.origin.unit)) + number}
        for term in TERMS
        for number in [_number(trace, term)]
    ]


def _number(trace: Trace, term: Term) -> list:
    layer = trace.layers[-1]
    if not term.here or not all(name in layer.trace for name in term.needs):
        return []
    if callable(term.here):
        return [["", f" {term.here(trace if not term.needs else layer.trace)}"]]
    return [["", " "], selection_story(Story(term.here).renamed(layer.names), of=layer.names["attention"])]


def measured(training: Mapping | None, seed: int | None) -> dict[str, str]:
    """What the numbers of a training, and the seed of a scene, add to terms, by their ids.

    Parameters
    ----------
    training : mapping or None
        As `attnviz.models` gives it.
    seed : int or None
        From which parameters were drawn; None where no seed is on the screen.
    """
    of_seed = {} if seed is None else {"seed": f"Here it is {seed}."}
    if not training:
        return of_seed
    step = training["checkpoints"][training["at"]]
    loss = next(loss for at, loss, _ in training["curve"] if at == step)
    compared = [f"{each['label']} {each['loss']:.2f}" for each in training["yardsticks"]]
    return of_seed | {
        "loss": f"Here {loss:.2f}" + (f", beside {', '.join(compared)}." if compared else "."),
        "nats": f"{loss:.2f} nats: as unsure as between e^{loss:.2f} = {math.exp(loss):.2g} answers.",
        "held-out": f"Here {training['heldOut']:,} texts.",
        "checkpoint": f"This one is of step {step:,}.",
        **_muted({each["label"]: each["loss"] for each in training["yardsticks"]}),
    }


def _muted(losses: Mapping[str, float]) -> dict[str, str]:
    """What attention does for a loss, where that without it was measured."""
    without, pairs = losses.get("with attention muted"), losses.get("pairs of letters")
    if without is None or pairs is None:
        return {}
    how = "no better than" if without >= pairs else "better than"
    return {"muted": f"With attention muted the loss is {without:.2f}: {how} a table of pairs, {pairs:.2f}."}
