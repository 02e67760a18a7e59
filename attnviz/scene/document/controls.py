"""Controls: the settings of a scene as input boxes; each names the action it sends."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from msgspec import UNSET

from attnviz.contract import request_reply as contract
from attnviz.core.coerce import allowed, is_applicable
from attnviz.core.integer_example import INTEGER_EXAMPLE, suits_integer_example
from attnviz.core.limits import MAX_CHARACTERS, MAX_TOKENS
from attnviz.core.masks import has_global_layer
from attnviz.core.settings import OPTIONS
from attnviz.explain.styled_text import runs
from attnviz.models import MODELS
from attnviz.models.model import PickableModel
from attnviz.models.translator import END
from attnviz.scene.presets import PRESETS, preset_of, translator_parts
from attnviz.scene.reading import has_options, translates
from attnviz.scene.scene import OWN_MODEL, OWN_PARAMETERS, RANDOM, SOURCES, Options, Scene, model_choice

_HELP = {name: option.help for name, option in OPTIONS.items() if option.help} | {
    "source": "A model that has learnt something, or was built by hand; your own sentence, with random parameters; or "
    "a worked example with its own numbers.",
    "another_seed": "Another seed: another untrained model",
    "model_seed": "Another seed is another model: it began with other random parameters, and learnt the same task.",
    "context": f"Cross-attention, as in translation. At most {MAX_TOKENS} tokens; empty for self-attention.",
    "written": "Words before the next one, as if the model had written them. Empty: the whole translation.",
    "preset": "Each sets every option of that model's attention, at a size that can be read.",
}
_CHANGED_MOST = ("d_model", "n_heads", "mask", "mask_size", "seed")
_BASIC = ("positions", "layers", "scaled", "initialiser")
_SIZES = {
    "padding": "Keys hidden at the end",
    "window": "Keys seen on either side",
    "causal window": "Keys seen, its own counted",
}
_OWN = {OWN_PARAMETERS: "Your own parameters", OWN_MODEL: "Your own microgpt"}
Kind = TypeVar("Kind", bound=contract.Box)
MAX_SEED_CHARACTERS = 40  # the longest seed text that is kept


def settings(scene: Scene, seed: str = "") -> contract.Settings:
    """The boxes of a scene: the main row, and the rarer ones; `seed` is what was typed as a seed, if anything."""
    scenes = (scene, scene.other) if scene.other else (scene,)
    is_private = any(each.upload is not None or each.code is not None for each in scenes)
    return _settings(scene, seed) if is_private else _shared_settings(scene, seed)


def _settings(scene: Scene, seed: str) -> contract.Settings:
    line, more, model = _example(scene), [], model_choice(scene)
    if scene.source == RANDOM:
        context = _typed(scene, "context", "Keys and values from another sentence", "Another sentence")
        line, more = _main_options(scene, seed), _rare_options(scene, context)
    elif has_options(scene):
        line, more = _main_options(scene, seed), [*_rare_options(scene), *_words(model)]
    elif model:
        examples = ((text, label) for label, text in model.examples)
        line = [_sentence(scene), _pills("example", "Examples", examples, scene.sentence, quiet=True)]
        if len(model.seeds) > 1:
            seeds = [contract.Option(value=each, label=model.seed_label(each)) for each in model.seeds]
            line.append(_box(contract.Choice, "model_seed", "Seed", value=scene.model_seed, options=seeds))
        more = [*_translating(scene), *_words(model)]
    return contract.Settings(line=[_sources(scene), *line], more=more)


# the boxes of a scene without uploads: a whole class that follows one projector requests the same
_shared_settings = lru_cache(256)(_settings)


def allowed_values(scene: Scene, name: str) -> Sequence[int | str | bool]:
    """The values that an option of the scene may have."""
    if name == "initialiser" and not suits_integer_example(scene.sentence, scene.context):
        return tuple(each for each in OPTIONS[name].allowed if each != INTEGER_EXAMPLE)
    options = scene.options
    if name == "rope" and not is_applicable(options, name):
        return (options.rope,)
    values = allowed(name, options.initialiser, options.d_model)
    if name != "window_in" or not is_applicable(options, name):
        return values
    return tuple(each for each in values if _changes_a_layer(options, each))


def _changes_a_layer(options: Options, window_in: str) -> bool:
    """Whether this value would change some layer's window; the current value and the default always stay."""
    is_plain = window_in in (Options().window_in, options.window_in)
    return is_plain or has_global_layer(options.mask, window_in, options.layers)


def _main_options(scene: Scene, seed: str) -> contract.Boxes:
    is_sized = is_applicable(scene.options, "mask_size")
    sized = [_option(scene, "mask_size", _SIZES[scene.options.mask])] if is_sized else []
    typed = {"value": seed or str(scene.options.seed), "limit": MAX_SEED_CHARACTERS, "live": False}
    return [
        _sentence(scene),
        *(_option(scene, name) for name in ("d_model", "n_heads", "mask")),
        *sized,
        _box(contract.Text, "seed", "Seed", **typed),
        _box(contract.Button, "another_seed", "Another seed", sign="⚄"),
    ]


def _rare_options(scene: Scene, *basic_boxes: contract.Text) -> contract.Boxes:
    """The options beside those of the main row, in three groups; each group explains those of the row, too."""
    names = [name for name in OPTIONS if name not in _CHANGED_MOST and is_applicable(scene.options, name)]
    offered = [name for name in names if len(allowed_values(scene, name)) > 1]
    basic, mask = [name for name in _BASIC if name in offered], [name for name in offered if name == "window_in"]
    large = [name for name in offered if name not in (*_BASIC, "window_in")]
    preset = preset_of(scene.options)
    presets = _pills("preset", "Preset", ((name, name) for name in PRESETS), preset, quiet=True)
    left_out = [_note(f"What differs: {PRESETS[preset].left_out} Source: {PRESETS[preset].source}.")] if preset else []
    return [
        *(contract.Heading(text="Basic"), *(_option(scene, name) for name in basic), *basic_boxes),
        _note(" ".join(f"**{OPTIONS[name].label}**: {_HELP[name]}" for name in ("d_model", "n_heads", "seed"))),
        *(contract.Heading(text="Mask"), *(_option(scene, name) for name in mask), _note(_HELP["mask"])),
        *(contract.Heading(text="As in large models"), presets, *left_out),
        *(_option(scene, name) for name in large),
    ]


def _words(model: PickableModel) -> contract.Boxes:
    """Notes on a model and its vocabulary; picking a word adds it to the sentence."""
    notes = (
        f"**{model.title}**",
        model.summary,
        f"Given by the model: {model.fixed_settings}.",
        "**The words it knows.** Pick one to add it to the sentence.",
    )
    pills = (_pills("word", kind, zip(words, words, strict=True), None) for kind, words in model.words_by_kind.items())
    return [*map(_note, notes), *pills]


def _translating(scene: Scene) -> contract.Boxes:
    """What a translator has written, and the switches that mute its parts."""
    if not translates(scene):
        return []
    words = [word for word in model_choice(scene).task.answers if word != END]
    written = {"value": scene.written or "", "placeholder": "all of it", "limit": MAX_CHARACTERS, "live": True}
    return [
        contract.Heading(text="What is written"),
        _box(contract.Text, "written", "Written so far", words=words, **written),
        contract.Heading(text="Mute"),
        *(
            _box(contract.Switch, each.event, each.label, value=each.is_muted(scene))
            for each in translator_parts(scene)
        ),
        _note("A muted part adds nothing, and the French sentence is written anew without it."),
    ]


def _example(scene: Scene) -> contract.Boxes:
    if scene.source == OWN_PARAMETERS:
        return [_note("attnviz's pass from the inputs and weights in a file, which stay in its owner's tab.")]
    return [_note(SOURCES[scene.source][1].description)] if scene.source in SOURCES else []


def _sources(scene: Scene) -> contract.Choice:
    """The select box of all sources, grouped by where their parameters come from."""
    examples = ((source, f"{example.title}: {variant.title}") for source, (example, variant) in SOURCES.items())
    groups = {
        "Models": ((source, model.title) for source, model in MODELS.items()),
        "Random parameters": [(RANDOM, "Your own sentence")],
        "Worked examples": examples,
    }
    if scene.source in _OWN:
        groups["Your own numbers"] = [(scene.source, _OWN[scene.source])]
    options = [
        contract.Option(value=source, label=title, group=group)
        for group, listed in groups.items()
        for source, title in listed
    ]
    return _box(contract.Choice, "source", "Show", value=scene.source, options=options, quiet=True)


def _sentence(scene: Scene) -> contract.Text:
    """The sentence box; a model's vocabulary lets a half-typed word wait before it counts as unknown."""
    if not model_choice(scene):
        return _typed(scene, "sentence", "Sentence", "Type a sentence of your own", quiet=True)
    model = model_choice(scene)
    words = [word for words in model.words_by_kind.values() for word in words]
    return _typed(scene, "sentence", "Sentence", model.examples[0][1], quiet=True, words=words)


def _typed(scene: Scene, action: str, label: str, placeholder: str, **parts: object) -> contract.Text:
    parts |= {"value": getattr(scene, action), "placeholder": placeholder, "limit": MAX_CHARACTERS, "live": True}
    return _box(contract.Text, action, label, **parts)


def _option(scene: Scene, name: str, label: str = "") -> contract.Switch | contract.Choice:
    option, value = OPTIONS[name], getattr(scene.options, name)
    label = label or option.label
    if option.is_switch:
        return _box(contract.Switch, name, label, value=value)
    options = [contract.Option(value=each, label=str(each)) for each in allowed_values(scene, name)]
    return _box(contract.Choice, name, label, value=value, options=options)


def _pills(
    action: str, label: str, options: Iterable[tuple[str, str]], value: str | None, **parts: bool
) -> contract.Pills:
    listed = [contract.Option(value=each, label=title) for each, title in options]
    present = value if any(each.value == value for each in listed) else None
    return _box(contract.Pills, action, label, value=present, options=listed, **parts)


def _box(kind: type[Kind], action: str, label: str, **parts: object) -> Kind:
    return kind(event=action, label=label, help=_HELP.get(action, UNSET), **parts)


def _note(text: str) -> contract.Note:
    return contract.Note(runs=runs(text))
