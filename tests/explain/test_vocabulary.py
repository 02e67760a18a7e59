"""The vocabulary: each stage's word, symbol, colour and kind, pinned by what the stage is in every kind of pass."""

import numpy as np
import pytest
from cases import of_each
from passes import TRACES

from attnviz.core.parameters import BLOCK_AXES, LATENT_AXES, PARAMETER_AXES
from attnviz.core.stage import split_layer
from attnviz.explain.steps import AXES, ENTRIES, STEPS, entry, full_title, steps_of, symbol

ROLES = ("q", "k", "v", "output")
"""Whose colour a text may wear."""

STAGES = {
    # symbol, title, a word of its meaning: as in Vaswani et al. 2017, and in the project's design
    "embeddings": ("E", "Embeddings", "each token"),
    "positions": ("P", "Positions", "position in the sentence"),
    "x": ("X", "Input", "what is projected"),
    "context_embeddings": ("E^C", "Context embeddings", "token of the context"),
    "context_positions": ("P^C", "Context positions", "position in the context"),
    "context": ("C", "Context", "keys and values are projected from"),
    "w_q": ("W^Q_i", "Query parameters", "makes queries"),
    "w_k": ("W^K_i", "Key parameters", "makes keys"),
    "w_v": ("W^V_i", "Value parameters", "makes values"),
    "w_o": ("W^O", "Output parameters", "mixes the heads"),
    "b_q": ("b^Q_i", "Query bias", "added to every query"),
    "b_k": ("b^K_i", "Key bias", "added to every key"),
    "b_v": ("b^V_i", "Value bias", "added to every value"),
    "b_o": ("b^O", "Output bias", "added to every output"),
    "q": ("Q_i", "Queries", "looks for"),
    "k": ("K_i", "Keys", "offers"),
    "v": ("V_i", "Values", "passes on"),
    "scores": ("S_i", "Scores", "query's dot product with each key"),
    "scaled": ("Z_i", "Scaled scores", "times the scale: 1/√d_k, unless another is given"),
    "mask": ("M", "Mask", "which keys a query sees"),
    "masked": ("Z^M_i", "Masked scores", "−∞ where a key is hidden"),
    "attention": ("A_i", "Attention", "share"),
    "heads": ("H_i", "Head outputs", "mixture of values"),
    "concat": ("H", "Concatenation", "side by side"),
    "contributions": ("O_i", "Contributions", "part of the output"),
    "output": ("O", "Output", "what leaves"),
    "residual": ("R", "Residual", "with its output added"),
    "w_u": ("W^U", "Unembedding", "scores each answer"),
    "embedded": ("E^P", "Embedded", "positions added"),
    "attn_norm": ("N", "Normed for attention", "attention reads"),
    "g_attn_norm": ("g^N", "Normed for attention gain", "factor"),
    "b_attn_norm": ("b^N", "Normed for attention bias", "added"),
    "mlp_norm": ("U", "Normed for the MLP", "MLP reads"),
    "g_mlp_norm": ("g^U", "Normed for the MLP gain", "factor"),
    "b_mlp_norm": ("b^U", "Normed for the MLP bias", "added"),
    "w_hidden": ("W^F", "Hidden parameters", "column for each neuron"),
    "b_hidden": ("b^F", "Hidden bias", "added"),
    "hidden": ("F", "Neurons", "each neuron gets"),
    "active": ("F^{+}", "Firing", "passes on"),
    "w_mlp": ("W^G", "MLP parameters", "row for each neuron"),
    "b_mlp": ("b^G", "MLP bias", "added"),
    "mlp": ("G", "MLP output", "neurons make"),
    "mlp_residual": ("R^G", "Residual after the MLP", "layer passes on"),
    "q_normed": ("Q^N_i", "Normed queries", "at one size"),
    "k_normed": ("K^N_i", "Normed keys", "at one size"),
    "g_q_norm": ("g^Q", "Query gain", "factor"),
    "g_k_norm": ("g^K", "Key gain", "factor"),
    "q_rotated": ("Q^R_i", "Rotated queries", "turned by their positions"),
    "k_rotated": ("K^R_i", "Rotated keys", "turned by their positions"),
    "capped": ("Z^C_i", "Capped scores", "beyond the limit"),
    "biased": ("Z^B_i", "Biased scores", "slope times the distance"),
    "sinks": ("σ_i", "Sinks", "share is dropped"),
    "w_dkv": ("W^D_i", "Latent parameters", "makes latents"),
    "compressed": ("D_i", "Latents before the norm", "one short row"),
    "latent": ("D^N_i", "Latents", "keys and values are made of"),
    "g_latent": ("g^D", "Latent gain", "factor"),
    "w_uk": ("U^K_i", "Key parameters of latents", "makes keys of latents"),
    "w_uv": ("U^V_i", "Value parameters of latents", "makes values of latents"),
    "w_dq": ("W^B", "Query latent parameters", "makes query latents"),
    "q_compressed": ("B", "Query latents before the norm", "one short row of each token for its queries"),
    "q_latent": ("B^N", "Query latents", "queries are made of"),
    "g_q_latent": ("g^B", "Query latent gain", "factor"),
    "w_uq": ("U^Q_i", "Query parameters of latents", "makes queries of query latents"),
    "w_qr": ("P^Q_i", "Position query parameters", "part of queries for positions"),
    "w_kr": ("P^K_i", "Position key parameters", "part of keys for positions"),
    "q_r": ("Q^P_i", "Position queries", "part of queries for positions"),
    "k_r": ("K^P_i", "Position keys", "part of keys for positions"),
    "q_absorbed": ("Q^D_i", "Absorbed queries", "looks for in the latents"),
    "content_scores": ("S^C_i", "Content scores", "without their parts for positions"),
    "position_scores": ("S^P_i", "Position scores", "part for positions"),
    "latent_heads": ("H^D_i", "Collected latents", "mixture of latents"),
    "logits": ("L", "Logits", "score of each answer"),
    "running_max": ("M^R_i", "Running maximum", "largest score so far"),
    "running_sum": ("L^R_i", "Running sum", "so far"),
    "running_output": ("O^R_i", "Running output", "values so far"),
    "sink_share": ("T_i", "Share of the sink", "what the sink takes"),
    "probabilities": ("Y", "Probabilities", "how probable"),
}
EVERYWHERE = of_each("trace", TRACES)


def test_every_stage_of_every_pass_has_an_entry_and_no_entry_is_for_nothing():
    there = {split_layer(stage.name)[0] for trace in TRACES.values() for stage in trace.stages}
    assert there | {"b_q", "b_k", "b_v"} == set(ENTRIES)
    assert set(STAGES) == set(ENTRIES)


@of_each("name", [*STAGES])
def test_a_stage_is_called_what_it_is(name):
    written, title, meaning = STAGES[name]
    assert (entry(name).symbol, entry(name).title) == (written, title)
    assert meaning in entry(name).meaning


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("scores_2", "S^{(2)}_i"),
        ("w_q_1", "W^{Q(1)}_i"),
        ("masked_12", "Z^{M(12)}_i"),
        ("w_o_2", "W^{O(2)}"),
        ("residual_1", "R^{(1)}"),
    ],
)
def test_the_layer_stands_above_a_symbol(name, written):
    own, layer = split_layer(name)
    assert entry(name).symbol == written
    assert entry(name).step == f"{entry(own).step}-{layer}"
    assert (entry(name).title, full_title(name)) == (entry(own).title, f"{entry(own).title} of layer {layer}")


def test_symbols_and_titles_tell_stages_apart():
    assert len({each.symbol for each in ENTRIES.values()}) == len(ENTRIES)
    assert len({each.title for each in ENTRIES.values()}) == len(ENTRIES)


@EVERYWHERE
def test_a_symbol_has_an_index_where_the_stage_has_one_array_for_each_head(trace):
    for stage in trace.stages:
        if split_layer(stage.name)[0] != "mask":  # which may have heads or not
            assert symbol(stage).endswith("_i") == stage.is_headed
            assert symbol(stage).endswith("_g") == (stage.axes[0] == "group")


@EVERYWHERE
def test_kinds(trace):
    for stage in trace.stages:
        kind = entry(stage.name).kind
        assert (kind == "parameter") == (
            split_layer(stage.name)[0] in (*PARAMETER_AXES, *BLOCK_AXES, *LATENT_AXES, "w_u")
        )
        if stage.inputs:
            assert kind == "computed"


@EVERYWHERE
def test_roles_follow_the_values_through_the_pass(trace):
    """What is projected to Q wears Q's colour, and so on; mixtures of V wear V's, and what W^O makes the output's."""
    for stage in trace.stages:
        (name, _), inputs = split_layer(stage.name), {split_layer(each)[0] for each in stage.inputs}
        role = entry(stage.name).role
        if name in (
            "q",
            "k",
            "v",
            "q_absorbed",
            *(f"{each}_{how}" for each in "qk" for how in ("normed", "r", "rotated")),
        ):
            assert role == name[0]
        elif entry(stage.name).kind == "parameter":
            letter = name.partition("_")[2]
            assert role == ({"o": "output"}.get(letter, letter) if letter in (*"qkvo",) else "")
        elif "w_o" in inputs:
            assert role == "output"
        elif name in ("heads", "running_output") or {"v", "heads"} & inputs:
            assert role == "v"
        else:
            assert role == ""


@EVERYWHERE
def test_scales_suit_the_numbers(trace):
    for stage in trace.stages:
        scale = entry(stage.name).scale
        assert (scale == "flag") == (split_layer(stage.name)[0] == "mask")
        own = split_layer(stage.name)[0]
        if scale == "share" and own != "sink_share" and not (stage.value < 0).any():  # as those of a softmax are not
            sums = stage.value.sum(axis=-1)
            sunk = any(split_layer(each)[0] == "sinks" for each in stage.inputs)
            assert (sums <= 1 + 1e-12).all() if sunk else np.allclose(sums, (sums > 0.5))
        if stage.value.dtype == bool:
            assert scale == "flag"
        assert (scale == "share") == (own in ("attention", "sink_share", "probabilities"))


@EVERYWHERE
def test_every_axis_has_a_word(trace):
    assert {axis for stage in trace.stages for axis in stage.axes} <= set(AXES)


def test_words_wear_the_colour_of_their_role():
    said = {
        "query": "q",
        "queries": "q",
        "key": "k",
        "value": "v",
        "values": "v",
        "output": "output",
    }
    steps = [step for trace in TRACES.values() for step in steps_of(trace)]
    coloured = [run for step in steps for run in step.text if run[0] in ROLES]
    assert {word for _, word in coloured} == said.keys() - {"queries"}
    assert all(role == said[word] for role, word in coloured)


def test_the_step_of_an_entry_is_the_one_that_introduces_it():
    for step in STEPS:
        assert all(entry(name).step == step.id for name in step.entries)


def test_every_stage_has_stories():
    assert all(each.stories for each in ENTRIES.values())
