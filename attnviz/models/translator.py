"""The translator: an encoder and a decoder that learnt to turn English into French, and their recipe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import eq

import numpy as np

from attnviz.core.assembly import input_stages
from attnviz.core.changes import Change
from attnviz.core.errors import ArrayError, ChangeError, SettingsError
from attnviz.core.limits import MAX_CHARACTERS
from attnviz.core.masks import REASONS
from attnviz.core.parameters import Kind, Origin, Parameters
from attnviz.core.rng import stream
from attnviz.core.seq2seq import attend_seq2seq
from attnviz.core.tokens import labels
from attnviz.core.trace import Trace
from attnviz.models.model import WHERE_FROM, Model, quoted
from attnviz.models.task import Batch, PairBatch
from attnviz.models.tasks.translation import BEGIN, END, N_PLACES, Translation
from attnviz.models.training import Recipe


@dataclass(frozen=True, eq=False)
class Translator(Model):
    """An encoder of one layer and a decoder of one: self-attention, then cross-attention.

    The parameters of the three are `layers`; embeddings and positions without prefix are those of the French words.
    """

    task: Translation
    context_embedding: np.ndarray | None = None  # (English words, d_model)
    context_positions: np.ndarray | None = None  # (places, d_model)

    @property
    def description(self) -> str:
        """Its size and kind, in words."""
        encoder, own, cross = (f"{each.n_heads} head{'s' * (each.n_heads > 1)}" for each in self.layers)
        return (
            f"d_model {self.d_model}, an encoder of 1 layer ({encoder}), a decoder of 1 layer (self-attention: {own}, "
            f"causal; cross-attention: {cross}), residual streams, positions for {N_PLACES} words of each language"
        )

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        assert self.context_embedding is not None
        assert self.context_positions is not None
        given = {"context_embeddings": self.context_embedding, "context_positions": self.context_positions}
        return given | super().arrays

    def with_arrays(self, arrays: Mapping[str, np.ndarray], kind: Kind) -> Translator:
        changed = super().with_arrays(arrays, kind)
        assert isinstance(changed, Translator)
        embedding, positions = arrays["context_embeddings"], arrays["context_positions"]
        return replace(changed, context_embedding=embedding, context_positions=positions)

    def tokens(self, text: str) -> tuple[str, ...]:
        """The words of an English text, and the one that ends it."""
        return (*super().tokens(text), END)

    def capacity(self, text: str) -> int:
        """The number of English words that fit, besides the one that ends a sentence."""
        return self.max_tokens - 1

    def _check(self, text: str) -> None:
        typed = self.split(text)
        if not typed:
            raise SettingsError(f"The sentence has no words yet. {_known('English', self.task.words_by_kind)}")
        unknown = self.unknown(text)
        if unknown:
            raise SettingsError(
                f"{quoted(unknown)}: not among the English words of this model. "
                f"{_known('English', self.task.words_by_kind)}"
            )
        self._check_length("English", len(typed))

    def _check_length(self, language: str, n_words: int) -> None:
        if n_words >= self.max_tokens:
            raise SettingsError(
                f"This model has places for {self.max_tokens - 1} {language} words; this text has {n_words}. "
                "Shorten it."
            )

    def written(self, text: str) -> tuple[str, ...]:
        """The words of a French text; it may be empty."""
        if not isinstance(text, str):
            raise SettingsError(f"What is written so far must be text; got {type(text).__name__}.")
        if len(text) > MAX_CHARACTERS:
            raise SettingsError(f"The French text may have at most {MAX_CHARACTERS:,} characters; got {len(text):,}.")
        words = self.task.split_french(text)
        unknown = tuple(word for word in dict.fromkeys(words) if word not in self.task.answers[:-1])
        if unknown:
            raise SettingsError(
                f"{quoted(unknown)}: not among the French words of this model. "
                f"{_known('French', self.task.french_by_kind)}"
            )
        self._check_length("French", len(words))
        return words

    def trace(self, text: str, written: str | None = None) -> Trace:
        """The pass of an English text and of the French that is written so far.

        Without the latter it is the whole translation, as the model writes it.
        """
        words = self.translate(text) if written is None else self.written(written)
        return self.read(self.tokens(text), words)

    def translate(self, text: str, changes: Sequence[Change] = ()) -> tuple[str, ...]:
        """The French words that it writes, always the most probable one, until it ends or has no place left.

        Hand-set numbers are in force at every word, as soon as the text is long enough to have their cells.

        >>> from attnviz.models import MODELS
        >>> MODELS["translator"].at(0).translate("the black cat sleeps")
        ('le', 'chat', 'noir', 'dort')
        """
        tokens = self.tokens(text)
        written: tuple[str, ...] = ()
        while len(written) < self.max_tokens - 1:
            trace = self._computed(tokens, written)  # labels would take twice as long
            try:
                trace = trace.with_changes(*(change for change in changes if _fits(trace, change)))
            except ArrayError:  # beyond float64; the pass itself says so
                break
            word = self.task.answers[int(trace["probabilities"].value[-1].argmax())]
            if word == END:
                break
            written = (*written, word)
        return written

    def translation(self, text: str) -> tuple[tuple[str, ...], np.ndarray]:
        """The words it writes, with the end token if it gets there, and the mean attention of each to the English."""
        written = self.translate(text)
        trace = self.read(self.tokens(text), written)
        ends = self.task.answers[int(trace["probabilities"].value[-1].argmax())] == END
        words = (*written, *[END] * ends)
        return words, trace["attention_3"].value.mean(axis=0)[: len(words)]

    def right(self, text: str, words: Sequence[str]) -> tuple[str, ...]:
        """The right translation that is closest to these words; empty if none is known."""
        known = self.task.translations(self.tokens(text)[:-1])
        return max(known, key=lambda each: sum(map(eq, each, words)), default=())

    def read(self, tokens: tuple[str, ...], written: tuple[str, ...] = ()) -> Trace:
        """The pass of English words and of the French ones so far, at most as many as it has places for."""
        french = (BEGIN, *written)
        english_labels, french_labels = labels(tokens), labels(french)
        words = dict.fromkeys(("token", "query", "key"), french_labels) | dict.fromkeys(
            ("context_token", "token_1", "query_1", "key_1", "key_3"), english_labels
        )
        sources = dict.fromkeys(self.arrays, WHERE_FROM[self.kind])
        return (
            self._computed(tokens, written)
            .with_sources(sources | {"mask_2": f"the mask “causal”: {REASONS['causal']}"})
            .labelled(**words, answer=labels(self.task.answers))
            .with_origin(self._origin_of(tokens, self.task.french_rows(french)))
        )

    def _computed(self, tokens: tuple[str, ...], written: tuple[str, ...]) -> Trace:
        """The pass without labels and sources."""
        recipe, arrays = WHERE_FROM[self.kind], self.arrays
        rows = {"context_": self.task.english_rows(tokens), "": self.task.french_rows((BEGIN, *written))}
        context, x = (
            input_stages(
                (arrays[f"{of}embeddings"][list(places)], recipe),
                (arrays[f"{of}positions"][: len(places)], recipe),
                context=bool(of),
            )
            for of, places in rows.items()
        )
        encoder, own, cross = self.layers
        trace = attend_seq2seq(
            context["context"].value,
            x["x"].value,
            encoder=[encoder],
            decoder=[(own, cross)],
            norm=self.norm,
            w_u=self.unembedding,
        )
        return trace.with_first_stages((*context.values(), *x.values()))

    def _origin_of(self, tokens: tuple[str, ...], rows: tuple[int, ...]) -> Origin:
        task = self.task
        return Origin(
            self.kind,
            title=task.title,
            question=task.question,
            task=task.about,
            read=task.read,
            right=(None,) * len(rows),
            layers=task.layers,
            is_open=task.is_open,
            text=" ".join(tokens[:-1]),
            unit=task.unit,
            rows=rows,
            layer_titles=task.layer_titles,
            sides=task.sides,
        )

    def read_first(self, batch: Batch | PairBatch) -> Trace:
        """The pass of the first of some texts, each with its translation."""
        assert isinstance(batch, PairBatch)
        english, french = (
            tuple(words[place] for place in places[0])
            for words, places in ((self.task.english, batch.source), (self.task.french, batch.tokens))
        )
        return self.read(english, french[1:])


def _fits(trace: Trace, change: Change) -> bool:
    try:
        trace.check(change)
    except ChangeError:
        return False
    return True


def _known(language: str, words_by_kind: Mapping[str, tuple[str, ...]]) -> str:
    kinds = [f"{kind[0].upper()}{kind[1:]}: {', '.join(words)}." for kind, words in words_by_kind.items()]
    return "\n".join([f"It knows these {language} words:", *kinds])


@dataclass(frozen=True)
class TranslatorRecipe(Recipe):
    """How a translator is trained."""

    task: Translation
    encoder_heads: int = 2
    quiet: float = 0.1  # scales the self-attentions' initial w_o, so that streams begin as plain words

    def untrained(self, seed: int) -> Translator:
        """The translator with random parameters: N(0, 1 / rows) in matrices, N(0, 1 / 4) in vectors."""
        random, size = stream(self.id, seed), self.d_model

        def drawn(*shape: int) -> np.ndarray:
            return random.normal(0, shape[-2] ** -0.5, shape)

        def vectors(count: int) -> np.ndarray:
            return random.normal(0, 0.5, (count, size))

        def layer(n_heads: int, loud: float) -> Parameters:
            of_head = (n_heads, size, size // n_heads)
            projections = {name: drawn(*of_head) for name in ("w_q", "w_k", "w_v")}
            return Parameters(**projections, w_o=loud * drawn(size, size))

        return Translator(
            task=self.task,
            context_embedding=vectors(len(self.task.english)),
            context_positions=vectors(self.n_places),
            embedding=vectors(len(self.task.french)),
            positions=vectors(self.n_places),
            layers=(layer(self.encoder_heads, self.quiet), layer(1, self.quiet), layer(1, 1.0)),
            unembedding=drawn(size, len(self.task.answers)),
            residual=True,
            causal=True,
            norm=self.norm,
            kind="drawn",
        )
