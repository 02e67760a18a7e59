"""Controls: the boxes in which a person types a sentence and picks settings. Each shows the scene, and changes it."""

import random
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from attnviz.core.masks import SIZED
from attnviz.core.settings import CHOICES, MAX_CHARACTERS, MAX_TOKENS, WHOLE_NUMBERS, divisors, nearest
from attnviz.models import MODELS
from attnviz.scene.scene import OWN, SOURCES, anew, with_options
from attnviz.ui.escaping import markdown
from attnviz.ui.sections import choice
from attnviz.ui.state.store import Shown
from attnviz.ui.state.writer import Writer

HELP = {
    "d_model": "How many numbers stand for a token.",
    "n_heads": "Heads share d_model among them, so their number divides it.",
    "mask": "causal: no token sees a later one. padding: the last keys are hidden. window: only near keys are seen.",
    "seed": "Decides every embedding and parameter: the same seed gives the same ones, on every machine.",
    "initialiser": "Where the matrices come from. normal: N(0, 1/d_model). xavier: uniform, by each head's size. "
    "uniform: [0, 1). standard normal: N(0, 1). pytorch: the very matrices of torch.nn.MultiheadAttention.",
}
SIZES = {"padding": "Keys hidden at the end", "window": "Keys seen on either side"}


def draw(shown: Shown) -> tuple[str, ...]:
    """Draw the settings in one line; returns a notice for what was typed and is not used as it stands."""
    source = shown.scene.source
    settings = _usual if source == OWN else _model if source in MODELS else _example
    rare = _rare if source == OWN else _words if source in MODELS else None
    with st.container(horizontal=True, vertical_alignment="center", key=shown.key("settings")):
        _source(shown)
        mended = settings(shown)
        if rare:
            with st.popover("More", icon=":material/tune:", key=shown.key("more")):
                rare(shown)
    return mended


def offer(shown: Shown) -> None:
    """Offer what can be shown of a sentence that a model can't read."""
    if shown.scene.source in MODELS and shown.scene.sentence.strip():
        st.button(
            "Show it with random parameters",
            icon=":material/casino:",
            key=shown.key("random_parameters"),
            on_click=shown.writer.update,
            kwargs=anew(OWN),
        )


def _usual(shown: Shown) -> tuple[str, ...]:
    """The sentence and the settings that are changed most; returns a notice for a seed that is none."""
    scene = shown.scene
    _typed(shown, "Sentence", "sentence", placeholder="Type a sentence of your own", label_visibility="collapsed")
    _option(shown, "d_model", "d_model", WHOLE_NUMBERS["d_model"], 140)
    _option(shown, "n_heads", "Heads", divisors(scene.options.d_model), 130)
    _option(shown, "mask", "Mask", CHOICES["mask"], 170)
    if scene.options.mask in SIZED:
        _option(shown, "mask_size", SIZES[scene.options.mask], WHOLE_NUMBERS["mask_size"], 240)
    return _seed(shown)


def _rare(shown: Shown) -> None:
    """The other settings."""
    _option(shown, "initialiser", "Parameters", CHOICES["initialiser"])
    _option(shown, "positions", "Positions", CHOICES["positions"])
    key = shown.shows("scaled", shown.scene.options.scaled)
    st.toggle("Divide scores by √d_k", key=key, on_change=_scaled_picked, args=(shown.writer,))
    _typed(
        shown,
        "Keys and values from another sentence",
        "context",
        placeholder="Cross-attention, as in translation",
        help=f"At most {MAX_TOKENS} tokens. Leave it empty for self-attention.",
    )


def _source(shown: Shown) -> None:
    """The box that says what is shown: a model, a sentence of one's own with random parameters, or a worked example."""
    choice.draw(
        shown,
        "source",
        "Show",
        [*MODELS, OWN, *SOURCES],
        shown.scene.source,
        _source_picked,
        format_func=_source_title,
        help="A model that has learnt something, or was built by hand; a sentence of your own with random parameters; "
        "or a worked example with its own numbers.",
        label_visibility="collapsed",
        width=200,
    )


def _source_title(source: str) -> str:
    """A source as people know it."""
    if source == OWN:
        return "Random parameters"
    if source in MODELS:
        return MODELS[source].title
    example, variant = SOURCES[source]
    return f"{example.title}: {variant.title}"


def _model(shown: Shown) -> tuple[str, ...]:
    """The sentence of a model, its examples and its seeds; there is nothing to mend."""
    model = MODELS[shown.scene.source]
    sentences = dict(model.examples)
    current = next((label for label, sentence in sentences.items() if sentence == shown.scene.sentence), None)
    _typed(shown, "Sentence", "sentence", placeholder=model.examples[0][1], label_visibility="collapsed")
    st.pills(
        "Examples",
        list(sentences),
        key=shown.shows("example", current),
        on_change=_example_picked,
        args=(shown.writer, sentences),
        label_visibility="collapsed",
        width="content",
    )
    if len(model.seeds) > 1:
        choice.draw(
            shown,
            "model_seed",
            "Seed",
            model.seeds,
            shown.scene.model_seed,
            _model_seed_picked,
            help="Another seed is another model: it began at other random parameters, and learnt the same task.",
            width=120,
        )
    return ()


def _words(shown: Shown) -> None:
    """What a model brings with it, and the words that it knows; one that is picked is added to the sentence."""
    model = MODELS[shown.scene.source]
    st.markdown(f"**{model.title}**  \n{model.lesson}")
    st.markdown(f":small[Given by the model: {model.given}.]")
    st.markdown("**The words it knows.** Pick one to add it to the sentence.")
    for kind, words in model.words_by_kind.items():
        st.pills(
            kind,
            words,
            key=shown.shows(f"word {kind}", None),
            on_change=_word_picked,
            args=(shown.writer, f"word {kind}"),
        )


def _example(shown: Shown) -> tuple[str, ...]:
    """What a worked example is about; there is nothing to mend."""
    _, variant = SOURCES[shown.scene.source]
    st.markdown(variant.description)
    return ()


def _typed(shown: Shown, label: str, name: str, **box: str) -> None:
    st.text_input(
        label,
        key=shown.holds(name, getattr(shown.scene, name)),
        live=True,
        max_chars=MAX_CHARACTERS,
        on_change=_sentence_typed,
        args=(shown.writer, name),
        **box,
    )


def _option(shown: Shown, name: str, label: str, offered: Sequence[int | str], width: int | str = "stretch") -> None:
    value = getattr(shown.scene.options, name)
    choice.draw(shown, name, label, offered, value, partial(_set, name=name), help=HELP.get(name), width=width)


def _seed(shown: Shown) -> tuple[str, ...]:
    """The box of the seed: what was typed stays in it, also where the nearest seed is used in its place."""
    seed, text = shown.scene.options.seed, st.session_state.get(shown.key("seed"), "")
    key = shown.holds("seed", text if text and _nearest_seed(text) == seed else str(seed))
    st.text_input(
        "Seed", key=key, max_chars=40, help=HELP["seed"], on_change=_seed_typed, args=(shown.writer,), width=150
    )
    st.button(
        "Another seed",
        icon=":material/casino:",
        key=shown.key("another_seed"),
        help="Another seed: another untrained model",
        on_click=_another_seed,
        args=(shown.writer,),
    )
    return tuple(nearest({"seed": st.session_state[key]})[1])


def _source_picked(writer: Writer, source: str) -> None:
    writer.update(**anew(source))


def _example_picked(writer: Writer, sentences: Mapping[str, str]) -> None:
    label = writer.value("example")
    if label:  # a second click on the same example picks none
        writer.update(sentence=sentences[label])


def _model_seed_picked(writer: Writer, seed: int) -> None:
    writer.update(model_seed=seed)


def _word_picked(writer: Writer, key: str) -> None:
    writer.update(sentence=f"{writer.kept.sentence} {writer.value(key)}".strip())


def _sentence_typed(writer: Writer, name: str) -> None:
    writer.update(**{name: writer.value(name)})


def _scaled_picked(writer: Writer) -> None:
    _set(writer, writer.value("scaled"), "scaled")


def _seed_typed(writer: Writer) -> None:
    _set(writer, _nearest_seed(writer.value("seed")), "seed")


def _another_seed(writer: Writer) -> None:
    present = writer.kept.options.seed
    _set(writer, random.choice([seed for seed in range(1000) if seed != present]), "seed")


def _set(writer: Writer, value: int | str | bool, name: str) -> None:
    before = writer.kept.options
    after = with_options(before, **{name: value})
    writer.update(options=after)
    if name != "n_heads" and after.n_heads != before.n_heads:
        said = f"{before.n_heads} heads don't divide {after.d_model}: showing {after.n_heads}."
        st.toast(markdown(said), icon=":material/info:")


def _nearest_seed(text: str) -> int:
    return nearest({"seed": text})[0]["seed"]
