"""The imprint: what a pass was made of, in one line, for whoever has it on paper."""

from attnviz.core.masks import SIZED
from attnviz.core.settings import OPTIONS
from attnviz.scene.reading import has_options
from attnviz.scene.scene import OWN_PARAMETERS, SOURCES, Options, Scene, choice_of

_ALWAYS = ("d_model", "n_heads", "mask", "seed")


def imprint(scene: Scene) -> str:
    """What decides the numbers of the scene's pass, besides its words and what is set by hand."""
    if scene.source == OWN_PARAMETERS:
        return "Somebody's own parameters."
    if scene.source in SOURCES:
        example, variant = SOURCES[scene.source]
        return f"Worked example: {example.title}, {variant.title}."
    painted = " A painted mask." if scene.hidden is not None else ""
    if has_options(scene):
        return f"Random parameters. {_settings(scene.options)}.{painted}"
    return f"{_model(scene)}.{painted}"


def _settings(options: Options) -> str:
    preset = Options()
    shown = [
        name
        for name in OPTIONS
        if name in _ALWAYS
        or (name == "mask_size" and options.mask in SIZED)
        or (name != "mask_size" and getattr(options, name) != getattr(preset, name))
    ]
    return ", ".join(f"{OPTIONS[name].label}: {_written(getattr(options, name))}" for name in shown)


def _written(value: int | str | bool) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _model(scene: Scene) -> str:
    """Its name, and which of those with that name it is."""
    model = choice_of(scene)
    steps = model.checkpoints(scene.model_seed)
    seed = [f"seed {scene.model_seed}"] if len(model.seeds) > 1 else []
    trained = [] if scene.checkpoint is None else [f"after {steps[scene.checkpoint]} steps of training"]
    which = f" ({', '.join([*seed, *trained])})" if seed or trained else ""
    return f"Model: {model.title}{which}"
