"""Presets: options for the attention of large published models, and changes that mute the parts of a translator."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from attnviz.core.changes import Change
from attnviz.core.settings import OPTIONS
from attnviz.scene.reading import translates
from attnviz.scene.scene import Options, Scene

UNTOUCHED = ("seed", "initialiser")  # a preset says how a pass is computed, not from which numbers


class Preset(NamedTuple):
    """A model's attention: the value of every option but the untouched ones, and what these can't express."""

    values: Mapping[str, int | str | bool]
    left_out: str
    source: str


def _preset(left_out: str, source: str, **values: int | str | bool) -> Preset:
    usual = {name: option.default for name, option in OPTIONS.items() if name not in UNTOUCHED}
    small = {"d_model": 16, "n_heads": 4, "layers": 2, "mask": "causal"}
    return Preset(MappingProxyType(usual | small | values), left_out, source)


# Figures: tests/scene/test_presets.py has each with its source.
PRESETS = {
    "GPT-2": _preset(
        "Positions are learnt there; sinusoidal ones stand in. Biases, gains and MLPs.",
        "Radford et al. 2019; 12 layers of 12 heads",
        positions="sinusoidal",
        norm="layernorm",
    ),
    "Llama 3": _preset(
        "Four heads share keys and values there, two here. Gains and MLPs.",
        "configuration of Llama 3 8B; 32 layers of 32 heads, 8 of keys",
        norm="rmsnorm",
        sharing="pairs",
        rope="neighbours",
        rope_base="500000",
    ),
    "Gemma 3": _preset(
        "Its window is 1,024 tokens, here 4. Positions are divided by 8 in its global layers. Scaled embeddings, the "
        "norm after attention, gains and MLPs.",
        "configuration of Gemma 3 12B; 48 layers of 16 heads, 8 of keys",
        layers=6,
        mask="causal window",
        mask_size=4,
        window_in="all but every sixth layer",
        norm="rmsnorm",
        sharing="pairs",
        qk_norm=True,
        rope="halves",
        rope_base_global="1000000",
    ),
    "DeepSeek-V3": _preset(
        "YaRN, which stretches RoPE and scales scores for long texts; gains and the mixture of experts.",
        "configuration of DeepSeek-V3; 61 layers of 128 heads, latents of 512 and 1,536 numbers",
        norm="rmsnorm",
        sharing="latent",
        latent_width=4,
        query_latent_width=12,
        rope="neighbours",
        rope_part="half",
    ),
    "gpt-oss": _preset(
        "Its window is 128 tokens, here 4. Eight heads share keys and values there, two here. YaRN, biases, gains and "
        "the mixture of experts.",
        "configuration of gpt-oss-120b; 36 layers of 64 heads, 8 of keys",
        mask="causal window",
        mask_size=4,
        window_in="every second layer",
        norm="rmsnorm",
        sharing="pairs",
        rope="halves",
        rope_base="150000",
        sinks="drawn",
    ),
}


def preset_of(options: Options) -> str | None:
    """The preset whose values the options have."""
    return next(
        (name for name, preset in PRESETS.items() if preset.values.items() <= vars(options).items()),
        None,
    )


class TranslatorPart(NamedTuple):
    """A part that can be muted."""

    event: str  # the action that mutes it, or undoes that
    label: str
    changes: tuple[Change, ...]  # the numbers that are set to 0

    def is_muted(self, scene: Scene) -> bool:
        """Whether all of it is set to 0."""
        return set(self.changes) <= set(scene.changes)


def _translator_part(event: str, label: str, *stages: str) -> TranslatorPart:
    return TranslatorPart(event, label, tuple(Change(stage, (None,), 0.0) for stage in stages))


TRANSLATOR_PARTS = (
    _translator_part("mute_1", "English looks at English (encoder)", "heads_1"),
    _translator_part("mute_2", "French so far (decoder)", "heads_2"),
    _translator_part("mute_3", "French reads English (cross-attention)", "heads_3"),
    _translator_part("mute_positions", "Positions of all words", "positions", "context_positions"),
)


def translator_parts(scene: Scene) -> tuple[TranslatorPart, ...]:
    """The parts of the scene's model that can be muted; none if it is no translator."""
    return TRANSLATOR_PARTS if translates(scene) else ()
