"""The imprint: what a pass was made of, in one line, for whoever has it on paper."""

from attnviz.core.effect import has_effect
from attnviz.core.settings import OPTIONS
from attnviz.explain.wording import setting
from attnviz.scene.reading import has_options, source_name
from attnviz.scene.scene import READY_MADE, SOURCES, Options, Scene, choice_of

_ALWAYS = ("d_model", "n_heads", "mask", "seed")


def imprint(scene: Scene) -> str:
    """The settings that decide the scene's pass, besides its words and what is set by hand."""
    name = source_name(scene)
    if scene.source in READY_MADE:
        return f"Worked example: {name}." if scene.source in SOURCES else f"{name.capitalize()}."
    painted = " A painted mask." if scene.hidden is not None else ""
    if has_options(scene):
        return f"{name.capitalize()}. {_settings(scene.options)}.{painted}"
    return f"Model: {name}{_which(scene)}.{painted}"


def _settings(options: Options) -> str:
    preset = Options()
    shown = [
        name
        for name in OPTIONS
        if name in _ALWAYS
        or (has_effect(options, name) and (name == "mask_size" or getattr(options, name) != getattr(preset, name)))
    ]
    return ", ".join(f"{OPTIONS[name].label}: {setting(getattr(options, name))}" for name in shown)


def _which(scene: Scene) -> str:
    """The training of a model that is shown, where there are several."""
    model = choice_of(scene)
    steps = model.checkpoints(scene.model_seed)
    seed = [f"seed {scene.model_seed}"] if len(model.seeds) > 1 else []
    trained = [] if scene.checkpoint is None else [f"after {steps[scene.checkpoint]} steps of training"]
    return f" ({', '.join([*seed, *trained])})" if seed or trained else ""
