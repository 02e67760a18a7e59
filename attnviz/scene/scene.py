"""The scene: what a person looks at, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace

from attnviz.checks.uploads import LACKING, OwnParameters, OwnStages
from attnviz.contract.view_params import COMPARISONS, ORDERS, QUESTIONS, ROUTES, VIEWS
from attnviz.core.changes import Change
from attnviz.core.coerce import coerced_integer_example, coerced_rope, nearest_heads, nearest_layers
from attnviz.core.masks import CustomMask
from attnviz.core.selection import Selection
from attnviz.core.settings import OPTIONS
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example, Variant
from attnviz.explain.steps import STEPS
from attnviz.models import MODELS
from attnviz.models.continuation import Drawing
from attnviz.models.model import PickableModel

OWN = "own-sentence"


def source_of(example: Example, variant: Variant) -> str:
    """The source key of a worked example's pass."""
    return f"{example.id} {variant.id}"


SOURCES = {
    source_of(example, variant): (example, variant) for example in EXAMPLES.values() for variant in example.variants
}
"""The worked examples' passes by source key."""

OWN_PARAMETERS = "own-parameters"
"""The source of uploaded arrays, which no address holds."""

OWN_MODEL = "own-microgpt"
"""The source of an uploaded model, which no address holds."""

OWN_CODE = "own-code"
"""The key of stages computed by the user's code."""

Upload = OwnParameters | PickableModel | OwnStages
"""What a user can upload: arrays, a model, or stages computed by their code."""

READY_MADE = (OWN_PARAMETERS, *SOURCES)
"""Sources with their own words and settings."""

SENTENCE = "the cat sat on the mat"
Options = make_dataclass(
    "Options", [(name, type(each.default), each.default) for name, each in OPTIONS.items()], frozen=True
)
"""The settings besides the sentences, with the names and defaults of `Settings`."""


@dataclass(frozen=True)
class Scene:
    """Everything that decides what is on the screen, on any page.

    A scene can be read from any address, compared and changed with `dataclasses.replace`.
    It holds no pass: `scene.with_pass.resolve` computes that.

    Attributes
    ----------
    source : str
        `OWN`, which has random parameters; a model's id in `MODELS`; a worked example's key in `SOURCES`; or
        `OWN_PARAMETERS`.
    sentence, context : str
        As typed, so possibly empty or too long for a pass; "" is no context.
    options : Options
        The other settings, for passes with random parameters.
    model_seed : int
        Which training of a model is shown.
    checkpoint : int or None
        The index of a checkpoint in its training; None is the last.
    changes : tuple of Change
        The numbers set by hand.
    selection : Selection or None
        None until a number is selected (see `attnviz.scene.with_pass`).
    picked : str
        The stage of the cell selected last, or "".
    step : str
        The id of a step of the walkthrough.
    trail : tuple of str
        The addresses of the unfolded cells, in order.
    question : one of QUESTIONS
        The question shown for the selected number.
    order : one of ORDERS
        The order of its terms.
    view : one of VIEWS
        The view of the pass.
    present : bool
        Whether the picture fills the screen, for a projector.
    reveal : int or None
        How much of a step is shown while presenting, counted in reveals from 0; None shows all of it.
    notebook : str
        The id of the worked example on that page.
    other : Scene or None
        The compared scene, A; this one is B. Reduced to what decides a pass (see `pinned`).
    compare : one of COMPARISONS
        How the two are compared.
    route : one of ROUTES
        Where a presenter's remote leads.
    drawing : Drawing or None
        How a language model's next token is sampled; None for the most probable.
    hidden : CustomMask or None
        A painted mask, which replaces that of the settings or the model.
    upload : OwnParameters, PickableModel or None
        The arrays of `OWN_PARAMETERS` or the model of `OWN_MODEL`, which no address holds.
    code : OwnStages or None
        Stages computed by the user's code, which no address holds either.
    """

    source: str = OWN
    sentence: str = SENTENCE
    context: str = ""
    options: Options = field(default_factory=Options)
    model_seed: int = 0
    checkpoint: int | None = None
    changes: tuple[Change, ...] = ()
    selection: Selection | None = None
    picked: str = ""
    step: str = STEPS[0].id
    trail: tuple[str, ...] = ()
    question: str = QUESTIONS[0]
    order: str = ORDERS[0]
    view: str = VIEWS[0]
    present: bool = False
    reveal: int | None = None
    notebook: str = next(iter(EXAMPLES))
    other: Scene | None = None
    compare: str = COMPARISONS[0]
    route: str = ROUTES[0]
    drawing: Drawing | None = None
    hidden: CustomMask | None = None
    upload: OwnParameters | PickableModel | None = None
    code: OwnStages | None = None


PASS_FIELDS = (
    "source",
    "sentence",
    "context",
    "options",
    "model_seed",
    "checkpoint",
    "hidden",
    "changes",
    "upload",
    "code",
)
"""The fields of a scene that decide the numbers of its pass."""


def model_choice(scene: Scene) -> PickableModel | None:
    """The scene's model; None if it has none, or if an uploaded one is missing."""
    return scene.upload if scene.source == OWN_MODEL else MODELS.get(scene.source)


def source_of_upload(upload: Upload) -> str:
    """The key of an upload; a tab holds one of each kind."""
    if isinstance(upload, OwnStages):
        return OWN_CODE
    return OWN_PARAMETERS if isinstance(upload, OwnParameters) else OWN_MODEL


def is_uploaded(scene: Scene) -> bool:
    """Whether a scene depends on an upload, present or not."""
    return scene.source in (OWN_PARAMETERS, OWN_MODEL) or scene.code is not None


def lacks_file(scene: Scene) -> bool:
    """Whether a scene depends on an upload that is missing."""
    return (scene.source in (OWN_PARAMETERS, OWN_MODEL) and scene.upload is None) or scene.code is LACKING


def with_uploads(scene: Scene, uploads: Mapping[str, Upload]) -> Scene:
    """The scene with its uploads filled in."""
    code = None if scene.code is None else uploads.get(OWN_CODE, LACKING)
    return replace(scene, upload=uploads.get(scene.source), code=code)


def pinned(scene: Scene) -> Scene:
    """A scene reduced to what decides its pass."""
    return Scene(**{name: getattr(scene, name) for name in PASS_FIELDS})


def with_other(scene: Scene, a: Scene, b: Scene) -> Scene:
    """The scene showing pass B, with pass A to compare."""
    return replace(scene, other=a, **{name: getattr(b, name) for name in PASS_FIELDS})


def with_options(options: Options, **values: int | str | bool) -> Options:
    """The options with new values; others move to the nearest that fit (heads divide `d_model`).

    RoPE is off where heads are of one dimension.
    """
    wanted = vars(options) | values
    wanted |= coerced_integer_example(wanted)
    wanted["n_heads"] = nearest_heads(wanted["n_heads"], wanted["d_model"])
    wanted["layers"] = nearest_layers(wanted["layers"], wanted["d_model"])
    return replace(options, **wanted | coerced_rope(wanted))


def parts_for_source(source: str) -> dict[str, object]:
    """The fields that switch a scene to another source; a model starts with its first example.

    Hand-set numbers, selections and the checkpoint belong to the old pass and are reset.
    """
    first = Scene()
    names = ("hidden", "changes", "selection", "picked", "trail", "model_seed", "checkpoint", "upload", "code")
    left = {name: getattr(first, name) for name in names}
    typed = {"sentence": MODELS[source].examples[0][1]} if source in MODELS else {}
    return {"source": source} | left | typed


def of_model(model: str) -> Scene:
    """The first scene of a model."""
    return Scene(**parts_for_source(model))


FIRST_VISIT = replace(of_model("who-is-it"), view="sheet")
"""The scene of an address without parameters."""
