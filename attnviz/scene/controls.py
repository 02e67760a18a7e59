"""Controls: what a person can set of a scene, as boxes to be drawn. Each names the act that it asks for."""

from collections.abc import Iterable, Sequence

from attnviz.core.masks import SIZED
from attnviz.core.settings import CHOICES, MAX_CHARACTERS, MAX_TOKENS, WHOLE_NUMBERS, divisors
from attnviz.models import MODELS
from attnviz.scene.reading import has_options
from attnviz.scene.scene import OWN, SOURCES, Scene
from attnviz.text.markup import runs

_HELP = {
    "source": "A model that has learnt something, or was built by hand; your own sentence, with random parameters; or "
    "a worked example with its own numbers.",
    "d_model": "How many numbers stand for a token.",
    "n_heads": "The heads share the d_model numbers, so their number divides d_model.",
    "mask": "causal: no token sees a later token. padding: the last keys are hidden. window: only near keys are seen.",
    "seed": "The seed decides every embedding and parameter: the same seed gives the same numbers, on every machine.",
    "another_seed": "Another seed: another untrained model",
    "model_seed": "Another seed is another model: it began with other random parameters, and learnt the same task.",
    "initialiser": "Where the matrices come from. normal: N(0, 1/d_model). xavier: uniform, by each head's size. "
    "uniform: [0, 1). standard normal: N(0, 1). pytorch: the very matrices of torch.nn.MultiheadAttention.",
    "context": f"At most {MAX_TOKENS} tokens. Leave it empty for self-attention.",
}
_SIZES = {"padding": "Keys hidden at the end", "window": "Keys seen on either side"}
LONGEST_SEED = 40
"""Characters of a box for a seed."""


def settings(scene: Scene, seed: str = "") -> dict[str, list[dict]]:
    """The boxes of a scene: those of the line, and the rare ones. `answer.schema.json` says what they hold.

    Parameters
    ----------
    scene : Scene
    seed : str, optional
        What was typed as a seed; the seed of the scene without it.
    """
    line, more = _example(scene), []
    if scene.source == OWN:
        line, more = _usual(scene, seed), [*_rare(scene), _context(scene)]
    elif has_options(scene):
        line, more = _usual(scene, seed), [*_rare(scene), *_words(scene)]
    elif scene.source in MODELS:
        line, more = _model(scene), _words(scene)
    return {"line": [_sources(scene), *line], "more": more}


def offered(scene: Scene, name: str) -> Sequence[int | str | bool]:
    """What an option of the scene may be."""
    if name == "n_heads":
        return divisors(scene.options.d_model)
    return (False, True) if name == "scaled" else CHOICES.get(name) or WHOLE_NUMBERS[name]


def _usual(scene: Scene, seed: str) -> list[dict]:
    """The settings that are changed most."""
    sized = [_option(scene, "mask_size", _SIZES[scene.options.mask])] if scene.options.mask in SIZED else []
    return [
        _sentence(scene),
        _option(scene, "d_model", "d_model"),
        _option(scene, "n_heads", "Heads"),
        _option(scene, "mask", "Mask"),
        *sized,
        _box("text", "seed", "Seed", value=seed or str(scene.options.seed), limit=LONGEST_SEED, live=False),
        _box("button", "another_seed", "Another seed", sign="⚄"),
    ]


def _rare(scene: Scene) -> list[dict]:
    return [
        _option(scene, "initialiser", "Parameters"),
        _option(scene, "positions", "Positions"),
        _box("switch", "scaled", "Divide scores by √d_k", value=scene.options.scaled),
    ]


def _context(scene: Scene) -> dict:
    return _typed(scene, "context", "Keys and values from another sentence", "Cross-attention, as in translation")


def _model(scene: Scene) -> list[dict]:
    """The sentence of a model, its examples and its seeds."""
    model = MODELS[scene.source]
    seeds = [_choice("model_seed", "Seed", model.seeds, scene.model_seed)] if len(model.seeds) > 1 else []
    return [
        _sentence(scene),
        _pills("example", "Examples", ((text, label) for label, text in model.examples), scene.sentence)
        | {"quiet": True},
        *seeds,
    ]


def _words(scene: Scene) -> list[dict]:
    """What a model brings with it, and the words that it knows; one that is picked is added to the sentence."""
    model = MODELS[scene.source]
    return [
        _note(f"**{model.title}**"),
        _note(model.lesson),
        _note(f"Given by the model: {model.given}."),
        _note("**The words it knows.** Pick one to add it to the sentence."),
        *(_pills("word", kind, ((word, word) for word in words), None) for kind, words in model.words_by_kind.items()),
    ]


def _example(scene: Scene) -> list[dict]:
    """What a worked example is about."""
    return [_note(SOURCES[scene.source][1].description)] if scene.source in SOURCES else []


def _sources(scene: Scene) -> dict:
    """What there is to show, as people know it, by where the parameters are from."""
    examples = ((source, f"{example.title}: {variant.title}") for source, (example, variant) in SOURCES.items())
    groups = {
        "Models": ((source, model.title) for source, model in MODELS.items()),
        "Random parameters": [(OWN, "Your own sentence")],
        "Worked examples": examples,
    }
    options = [
        {"value": source, "label": title, "group": group}
        for group, listed in groups.items()
        for source, title in listed
    ]
    return _box("choice", "source", "Show", value=scene.source, options=options, quiet=True)


def _sentence(scene: Scene) -> dict:
    """The box of the words; with those that a model knows, one that is half typed may still become one of them."""
    if scene.source not in MODELS:
        return _typed(scene, "sentence", "Sentence", "Type a sentence of your own") | {"quiet": True}
    model = MODELS[scene.source]
    words = [word for words in model.words_by_kind.values() for word in words]
    return _typed(scene, "sentence", "Sentence", model.examples[0][1]) | {"quiet": True, "words": words}


def _typed(scene: Scene, act: str, label: str, placeholder: str) -> dict:
    text = getattr(scene, act)
    return _box("text", act, label, value=text, placeholder=placeholder, limit=MAX_CHARACTERS, live=True)


def _option(scene: Scene, name: str, label: str) -> dict:
    return _choice(name, label, offered(scene, name), getattr(scene.options, name))


def _choice(act: str, label: str, options: Iterable[int | str], value: int | str) -> dict:
    listed = [{"value": each, "label": str(each)} for each in options]
    return _box("choice", act, label, value=value, options=listed)


def _pills(act: str, label: str, options: Iterable[tuple[str, str]], value: str | None) -> dict:
    listed = [{"value": each, "label": title} for each, title in options]
    present = value if any(each["value"] == value for each in listed) else None
    return _box("pills", act, label, value=present, options=listed)


def _box(kind: str, act: str, label: str, **parts: object) -> dict:
    helped = {"help": _HELP[act]} if act in _HELP else {}
    return {"kind": kind, "event": act, "label": label} | helped | parts


def _note(text: str) -> dict:
    return {"kind": "note", "runs": runs(text)}
