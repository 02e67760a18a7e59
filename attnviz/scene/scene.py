"""The scene: what a person looks at, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass, replace

from attnviz.checks.uploads import MISSING_UPLOAD, Upload, UserParameters, UserStages
from attnviz.contract.view_params import COMPARISONS, ORDERS, QUESTIONS, ROUTES, VIEWS
from attnviz.core.changes import Change
from attnviz.core.coerce import coerce_integer_example, coerce_rope, nearest_heads, nearest_layers
from attnviz.core.masks import CustomMask
from attnviz.core.selection import Selection
from attnviz.core.settings import OPTIONS
from attnviz.examples import EXAMPLES
from attnviz.examples.example import Example, Variant
from attnviz.explain.steps import STEPS
from attnviz.models import MODELS
from attnviz.models.continuation import Sampling
from attnviz.models.model import PickableModel
from attnviz.models.recipes import RECIPES

RANDOM = "own-sentence"  # the source of random parameters


def source_of(example: Example, variant: Variant) -> str:
    """The source key of a worked example's pass."""
    return f"{example.id} {variant.id}"


SOURCES = {  # the worked examples' passes by source key
    source_of(example, variant): (example, variant) for example in EXAMPLES.values() for variant in example.variants
}

OWN_PARAMETERS = "own-parameters"  # the source of uploaded arrays, which no address holds
OWN_MODEL = "own-microgpt"  # the source of an uploaded model, which no address holds
OWN_CODE = "own-code"  # the key of stages computed by the user's code
FIXED_SOURCES = (OWN_PARAMETERS, *SOURCES)  # sources with their own words and settings
SENTENCE = "the cat sat on the mat"
# the settings besides the sentences, with the names and defaults of `Settings`
Options = make_dataclass(
    "Options", [(name, type(each.default), each.default) for name, each in OPTIONS.items()], frozen=True
)


@dataclass(frozen=True)
class Scene:
    """Everything that decides what is on the screen, on any page. A scene can be read from any address, compared and
    changed with `dataclasses.replace`. It holds no pass: `scene.with_pass.resolve` computes that.
    """

    source: str = RANDOM
    """`RANDOM` (random parameters), an id in `MODELS`, a key in `SOURCES` (worked examples), or an upload's key."""
    sentence: str = SENTENCE  # as typed, so possibly empty or too long for a pass; "" is no context
    context: str = ""
    written: str | None = None  # of a translator: what it has written so far; None is the whole translation
    options: Options = field(default_factory=Options)  # the other settings, for passes with random parameters
    model_seed: int = 0  # which training of a model is shown
    checkpoint: int | None = None  # the index of a checkpoint in its training; None is the last
    changes: tuple[Change, ...] = ()  # the numbers set by hand
    selection: Selection | None = None  # none until a number is selected (see `attnviz.scene.with_pass`)
    picked: str = ""  # the stage of the cell selected last, or ""
    step: str = STEPS[0].id  # the id of a step of the walkthrough
    trail: tuple[str, ...] = ()  # the addresses of the unfolded cells, in order
    question: str = QUESTIONS[0]  # the question shown for the selected number
    order: str = ORDERS[0]  # the order of its terms
    view: str = VIEWS[0]  # the view of the pass
    present: bool = False  # whether the picture fills the screen, for a projector
    reveal: int | None = None  # how many reveals of a step are shown while presenting; None shows all of it
    notebook: str = next(iter(EXAMPLES))  # the id of the worked example on that page
    other: Scene | None = None  # the compared scene, A; this one is B. Reduced to what decides a pass (see `pinned`)
    compare: str = COMPARISONS[0]  # how the two are compared
    route: str = ROUTES[0]  # where a presenter's remote leads
    drawing: Sampling | None = None  # how a language model's next token is sampled; None for the most probable
    hidden: CustomMask | None = None  # a painted mask, which replaces that of the settings or the model
    upload: UserParameters | PickableModel | None = None  # of `OWN_PARAMETERS` or `OWN_MODEL`; no address holds it
    code: UserStages | None = None  # stages computed by the user's code, which no address holds either


_SETTINGS = ("source", "sentence", "context", "written", "options", "model_seed", "checkpoint", "hidden")
PASS_FIELDS = (*_SETTINGS, "changes", "upload", "code")  # the fields of a scene that decide the numbers of its pass


def model_choice(scene: Scene) -> PickableModel | None:
    """The scene's model; None if it has none, or if an uploaded one is missing."""
    return scene.upload if scene.source == OWN_MODEL else MODELS.get(scene.source)


def source_of_upload(upload: Upload) -> str:
    """The key of an upload; a tab holds one of each kind."""
    if isinstance(upload, UserStages):
        return OWN_CODE
    return OWN_PARAMETERS if isinstance(upload, UserParameters) else OWN_MODEL


def is_uploaded(scene: Scene) -> bool:
    """Whether a scene depends on an upload, present or not."""
    return scene.source in (OWN_PARAMETERS, OWN_MODEL) or scene.code is not None


def lacks_file(scene: Scene) -> bool:
    """Whether a scene depends on an upload that is missing."""
    return (scene.source in (OWN_PARAMETERS, OWN_MODEL) and scene.upload is None) or scene.code is MISSING_UPLOAD


def with_uploads(scene: Scene, uploads: Mapping[str, Upload]) -> Scene:
    """The scene with its uploads filled in."""
    code = None if scene.code is None else uploads.get(OWN_CODE, MISSING_UPLOAD)
    return replace(scene, upload=uploads.get(scene.source), code=code)


def pinned(scene: Scene) -> Scene:
    """A scene reduced to what decides its pass."""
    return Scene(**{name: getattr(scene, name) for name in PASS_FIELDS})


def with_other(scene: Scene, a: Scene, b: Scene) -> Scene:
    """The scene showing pass B, with pass A to compare."""
    return replace(scene, other=a, **{name: getattr(b, name) for name in PASS_FIELDS})


def with_options(options: Options, **values: int | str | bool) -> Options:
    """The options with new values; others move to the nearest that fit: heads divide `d_model`, RoPE needs pairs."""
    wanted = vars(options) | values
    wanted |= coerce_integer_example(wanted)
    wanted["n_heads"] = nearest_heads(wanted["n_heads"], wanted["d_model"])
    wanted["layers"] = nearest_layers(wanted["layers"], wanted["d_model"])
    return replace(options, **wanted | coerce_rope(wanted))


def next_seed(seed: int) -> int:
    """Another seed, of a full-period generator: all seeds below 1,000 occur before one repeats."""
    return (421 * seed + 613) % 1000


def parts_for_source(source: str) -> dict[str, object]:
    """The fields that switch a scene to another source; a model starts with its first example. Hand-set numbers,
    selections and the checkpoint belong to the old pass and are reset.
    """
    first = Scene()
    of_pass = ("written", "hidden", "changes", "model_seed", "checkpoint", "upload", "code")
    reset = {name: getattr(first, name) for name in (*of_pass, "selection", "picked", "trail")}
    typed = {"sentence": MODELS[source].examples[0][1]} if source in MODELS else {}
    return {"source": source} | reset | typed


def of_model(model: str) -> Scene:
    """The first scene of a model."""
    return Scene(**parts_for_source(model))


FIRST_VISIT = replace(of_model("who-is-it"), view="sheet", checkpoint=RECIPES["who-is-it"].checkpoints.index(100))
"""The scene of an address without parameters: before the model is so sure that its slopes and losses are all zero."""
