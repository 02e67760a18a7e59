"""The scene: what a person looks at, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace

from attnviz.checks.uploads.parameters import OwnParameters
from attnviz.checks.uploads.stages import LACKING, OwnStages
from attnviz.contract.view_params import COMPARISONS, ORDERS, QUESTIONS, ROUTES, VIEWS
from attnviz.core.changes import Change
from attnviz.core.coerce import coerced_integer_example, coerced_rope, nearest_heads, nearest_layers
from attnviz.core.masks import CustomMask
from attnviz.core.selection import Selection
from attnviz.core.settings import OPTIONS
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example
from attnviz.examples.variant import Variant
from attnviz.explain.steps import STEPS
from attnviz.models import MODELS
from attnviz.models.choice import Choice
from attnviz.models.continuation import Drawing

OWN = "own-sentence"


def source_of(example: Example, variant: Variant) -> str:
    """The key of a pass of a worked example, in a scene and in an address."""
    return f"{example.id} {variant.id}"


SOURCES = {
    source_of(example, variant): (example, variant) for example in EXAMPLES.values() for variant in example.variants
}
"""The passes of the worked examples by what stands for them."""

OWN_PARAMETERS = "own-parameters"
"""The source of a pass that somebody gave the arrays of. They are in no address."""

OWN_MODEL = "own-microgpt"
"""The source of a model that somebody gave a file of, which is in no address either."""

OWN_CODE = "own-code"
"""The key of the stages that somebody's code computed, among what they gave."""

Upload = OwnParameters | Choice | OwnStages
"""Arrays, a model or stages that somebody gave."""

READY_MADE = (OWN_PARAMETERS, *SOURCES)
"""The sources that bring their words and settings with them."""

SENTENCE = "the cat sat on the mat"
Options = make_dataclass(
    "Options", [(name, type(each.default), each.default) for name, each in OPTIONS.items()], frozen=True
)
"""The settings besides the sentences, as they are named and preset in `Settings`."""


@dataclass(frozen=True)
class Scene:
    """Everything that decides what is on the screen, whatever page shows it.

    A scene can be had of any address, compared, changed with `dataclasses.replace`,
    kept in a list or shown beside another. It holds no pass: `resolve` makes that.

    Attributes
    ----------
    source : str
        `OWN`, which has random parameters; a model's id in `MODELS`; a worked example's key in `SOURCES`; or
        `OWN_PARAMETERS`.
    sentence, context : str
        As they were typed, so perhaps empty or too long for a pass; no context is "".
    options : Options
        The other settings of random parameters: those of one's own sentence, and of one that a model can't read.
    model_seed : int
        Which training of a model is shown.
    checkpoint : int or None
        How far it has been trained: the place of a checkpoint; None is the last.
    changes : tuple of Change
        The numbers set by hand.
    selection : Selection or None
        None where nobody has picked a number (see `attnviz.scene.start`).
    picked : str
        The stage whose cell was picked last, or "".
    step : str
        The id of a step of the walkthrough.
    trail : tuple of str
        The addresses of cells that were unfolded one after the other; empty where none is.
    question : one of QUESTIONS
        What is asked of a number.
    order : one of ORDERS
        In which order its terms are listed.
    view : one of VIEWS
        How one looks at it.
    present : bool
        Whether the picture fills the screen, for a projector.
    reveal : int or None
        How much of a step is shown while presenting, counted in reveals from 0; None shows all of it.
    notebook : str
        The id of the worked example that is read about.
    other : Scene or None
        A second scene, A, of a pass beside this one's, B: what decides a pass, and nothing else (see `pinned`).
    compare : one of COMPARISONS
        How the two are looked at.
    route : one of ROUTES
        Where a presenter's remote leads.
    drawing : Drawing or None
        How the next letter is drawn, where a model says what may come next; None for the most probable.
    hidden : CustomMask or None
        The mask that somebody painted, in place of that of the settings or the model.
    upload : OwnParameters, Choice or None
        The arrays of `OWN_PARAMETERS` or the model of `OWN_MODEL`, which no address holds.
    code : OwnStages or None
        The stages of the pass that are as somebody's code computed them, which no address holds either.
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
    upload: OwnParameters | Choice | None = None
    code: OwnStages | None = None


DECIDING = (
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
"""The parts of a scene that decide the numbers of its pass."""


def choice_of(scene: Scene) -> Choice | None:
    """The model that a scene is of; None where it is of none, or of one of somebody's own that is not here."""
    return scene.upload if scene.source == OWN_MODEL else MODELS.get(scene.source)


def source_of_upload(upload: Upload) -> str:
    """The key of what somebody gave in their tab, which has one of each kind: the source of a scene, or `OWN_CODE`."""
    if isinstance(upload, OwnStages):
        return OWN_CODE
    return OWN_PARAMETERS if isinstance(upload, OwnParameters) else OWN_MODEL


def is_uploaded(scene: Scene) -> bool:
    """Whether a scene is of a file of somebody's own, here or not."""
    return scene.source in (OWN_PARAMETERS, OWN_MODEL) or scene.code is not None


def lacks_file(scene: Scene) -> bool:
    """Whether a scene is of a file of somebody's own that is not here."""
    return (scene.source in (OWN_PARAMETERS, OWN_MODEL) and scene.upload is None) or scene.code is LACKING


def with_uploads(scene: Scene, uploads: Mapping[str, Upload]) -> Scene:
    """The scene with what somebody gave for it."""
    code = None if scene.code is None else uploads.get(OWN_CODE, LACKING)
    return replace(scene, upload=uploads.get(scene.source), code=code)


def pinned(scene: Scene) -> Scene:
    """A scene with all that decides its pass, and nothing of how one looks at it."""
    return Scene(**{name: getattr(scene, name) for name in DECIDING})


def with_other(scene: Scene, a: Scene, b: Scene) -> Scene:
    """The scene with the pass of B, and that of A beside it."""
    return replace(scene, other=a, **{name: getattr(b, name) for name in DECIDING})


def with_options(options: Options, **values: int | str | bool) -> Options:
    """The options with other values of some; others become the nearest that fit: heads divide `d_model`.

    RoPE is off where heads are of one dimension.
    """
    wanted = vars(options) | values
    wanted |= coerced_integer_example(wanted)
    wanted["n_heads"] = nearest_heads(wanted["n_heads"], wanted["d_model"])
    wanted["layers"] = nearest_layers(wanted["layers"], wanted["d_model"])
    return replace(options, **wanted | coerced_rope(wanted))


def parts_for_source(source: str) -> dict[str, object]:
    """The parts of a scene that show another source, a model with its first example.

    What is set by hand, picked or unfolded, and how far a model is trained, belong to the pass that is left.
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
