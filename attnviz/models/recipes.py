"""Recipes of all models that are trained, by their ids."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from attnviz.core.operations.norms import RMSNorm
from attnviz.core.rng import stream
from attnviz.models.task import Answers, Batch, Learnable
from attnviz.models.tasks.names import LONGEST, Names
from attnviz.models.tasks.toy import N_TEXTS, N_TOKENS, PAIRS, Recall, Reference
from attnviz.models.tasks.translation import N_PLACES, Translation
from attnviz.models.training import Recipe
from attnviz.models.translator import TranslatorRecipe

LENGTH = 8
HELD_OUT = 512


class Mirror(Learnable):
    """Each position answers with the digit at the mirrored position."""

    unit = "digit"
    title = "Mirror"
    summary = "Eight digits, reversed: each position looks at the position across the middle, whatever digit is there."
    question = "What is “{sentence}” backwards?"
    about = (
        f"This model was trained to reverse texts of {LENGTH} random digits: each position answers with the digit "
        "at the mirrored position."
    )
    words_by_kind: Mapping[str, tuple[str, ...]] = {"digits": tuple("0123456789")}
    answers = words_by_kind["digits"]
    examples = (("in order", "1 2 3 4 5 6 7 8"), ("one of a kind", "0 0 0 7 0 0 0 0"), ("π", "3 1 4 1 5 9 2 6"))
    read = "each"

    def right(self, tokens: Sequence[str]) -> Answers:
        return tuple(reversed(tokens)) if len(tokens) == LENGTH else (None,) * len(tokens)

    def batch(self, random: np.random.RandomState, size: int) -> Batch:
        tokens = random.randint(len(self.words), size=(size, LENGTH))
        return Batch(tokens, tokens[:, ::-1], np.ones(tokens.shape, dtype=bool))

    def held_out(self) -> Batch:
        return self.batch(stream("mirror, held out", 0), HELD_OUT)

    def patterns(self, arrays: Mapping[str, np.ndarray], batch: Batch) -> dict[str, float]:
        mirrored = arrays["attention"][:, :, range(LENGTH), range(LENGTH - 1, -1, -1)]
        return {"attention on the mirrored position": float(mirrored.mean())}


WHO_IS_IT = Reference(
    title="Who is “it”?",
    summary="Animals are tired, streets are wide: in five of six sentences or more the last word looks most at the "
    "noun that it fits, and in all of them it answers with that noun.",
    question="What does “it” refer to in “{sentence}”?",
    about=(
        f"This model was trained on {N_TEXTS // 2} of {N_TEXTS} sentences. At the last word it answers: does “tired” "
        "fit the animal or the street? It ignores word order: shuffle the other words and the answer stays."
    ),
)
AT_IT = Reference(
    title="Who is “it”? Read at “it”",
    summary="The same answers, read at another word: in half of the sentences “it” looks more at the wrong noun, and "
    "the answer is right all the same.",
    question=WHO_IS_IT.question,
    about=(
        f"This model was trained on {N_TEXTS // 2} of {N_TEXTS} sentences. At “it”, and at no other word, it answers: "
        "does “tired” fit the animal or the street?"
    ),
    at_it=True,
)
SHORT_CUT = Reference(
    title="A short cut",
    summary="In training the first noun was always right. So the model learnt to answer with the first noun, which "
    "looks like understanding.",
    question=WHO_IS_IT.question,
    about=(
        f"This model was trained on {N_TEXTS // 4} sentences, to answer at the last word. In all of them the first "
        "noun is right, whatever the last word."
    ),
    first_nouns=True,
)

MICROGPT = Recipe(
    "microgpt",
    Names(),
    d_model=16,
    rate=0.01,
    checkpoints=(0, 10, 30, 100, 200, 400, 700, 1_000, 2_000, 4_000, 8_000, 15_000, 22_000),
    seeds=3,
    n_places=LONGEST + 1,
    residual=True,
    causal=True,
    n_heads=4,
    n_neurons=64,
    norm=RMSNorm(),
    spread=0.08,
    betas=(0.9, 0.99),
    decay="linear",
    decimals=3,
)
OWN_MICROGPT = replace(
    MICROGPT,
    id="microgpt-own",
    checkpoints=(0, 10, 20, 40, 70, 100, 150, 200, 300, 400, 600, 800, 1_000),
    seeds=1,
    betas=(0.85, 0.99),
    batch=1,
    label="microgpt’s own recipe",
)
"""As microgpt itself has it: a thousand steps, each of one name."""

TRANSLATOR = TranslatorRecipe(
    "translator",
    Translation(),
    d_model=16,
    rate=0.01,
    checkpoints=(0, 50, 100, 200, 400, 700, 1_000, 1_500, 2_000, 3_000, 4_000),
    few_checkpoints=(0, 200, 1_000, 4_000),
    seeds=3,
    chosen_seeds=(6, 1, 2),  # out of 0 to 9: hiding the noun of "it" changes most pronouns, half of them, and none
    n_places=N_PLACES,
    norm=RMSNorm(),
    betas=(0.9, 0.99),
    decay="halfway",
    weight_decay=0.1,
    decimals=2,
)

RECIPES: dict[str, Recipe] = {
    recipe.id: recipe
    for recipe in (
        Recipe(
            "who-is-it",
            WHO_IS_IT,
            d_model=8,
            rate=0.02,
            checkpoints=(0, 10, 20, 30, 40, 50, 60, 70, 80, 100, 200, 400),
            seeds=5,
        ),
        Recipe(
            "mirror",
            Mirror(),
            d_model=16,
            rate=0.02,
            checkpoints=(0, 5, 10, 15, 20, 25, 30, 40, 60, 200),
            seeds=3,
            n_places=LENGTH,
        ),
        Recipe(
            "recall",
            Recall(),
            d_model=16,
            rate=0.01,
            checkpoints=(0, 50, 100, 125, 150, 175, 200, 250, 300, 600),
            seeds=3,
            n_places=2 * PAIRS + 1,
            n_layers=2,
            residual=True,
            causal=True,
        ),
        Recipe(
            "at-it",
            AT_IT,
            d_model=16,
            rate=0.02,
            checkpoints=(0, 10, 20, 30, 40, 50, 60, 80, 100, 150, 300),
            residual=True,
        ),
        Recipe(
            "short-cut",
            SHORT_CUT,
            d_model=8,
            rate=0.02,
            checkpoints=(0, 10, 20, 30, 40, 50, 60, 80, 100, 200),
            n_places=N_TOKENS,
        ),
        MICROGPT,
        OWN_MICROGPT,
        TRANSLATOR,
    )
}
