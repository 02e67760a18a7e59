"""Documents as a browser reads them: whole, with the parts of their templates."""

import functools
import json
from dataclasses import replace

from attnviz.explain.glossary import measured
from attnviz.explain.payload import ALL, model_data, numbers
from attnviz.explain.pictures import limits
from attnviz.explain.steps import steps_of
from attnviz.explain.steps.answer import verdict
from attnviz.scene.address import parse
from attnviz.scene.document.document import document_json
from attnviz.scene.document.encoding import template_of, to_json
from attnviz.scene.document.reply_notes import ReplyNotes
from attnviz.scene.with_pass import fit_to_pass, pass_or_reason, starts


def fitted_at(written, make_pass=pass_or_reason):
    """The scene of an address beside its pass, with all that was mended."""
    scene, notices = parse(written)
    fitted = fit_to_pass(scene, make_pass(scene), scene.other and make_pass(scene.other))
    return replace(fitted, notices=(*notices, *fitted.notices))


def answer_bytes(session, view="pass", tab="tab", notes=None):
    """The answer for a session as it stands, byte for byte."""
    return session.reply(session.resolved(), notes or ReplyNotes(), tab, view, session.number())


def document(fitted, *, arrival=0, **asked):
    """The document of a scene, as JSON reads it."""
    return whole(json.loads(document_bytes(fitted, arrival=arrival, **asked)))


def document_bytes(fitted, *, arrival=0, **asked):
    """The document of a scene, byte for byte; with that of the pass beside it, if it has one."""
    return document_json(fitted, ReplyNotes(**asked), arrival=arrival)


def whole(given):
    """A document that came with the parts of its templates; that of a pass beside it may have the same."""
    rest = {name: part for name, part in given.items() if name not in TEMPLATES}
    made = merged(merged(given["template"]["parts"], given["parameters"]["parts"]), rest)
    if other := given["other"]:
        of_other = other["document"]
        templates = {name: of_other[name] if of_other[name]["parts"] else given[name] for name in TEMPLATES}
        made["other"] = other | {"document": whole(of_other | templates)}
    return made


TEMPLATES = ("template", "parameters")


def read(answer):
    """An answer as JSON, with its pass whole if it has one."""
    found = json.loads(answer)
    return found | {"pass": whole(found["pass"])} if found.get("pass") else found


def document_of(trace):
    """All numbers and steps of a pass that no scene leads to, as much of it as a pass and its texts are read from."""
    first = [vars(each) for each in starts(trace)]
    drawn = numbers(trace, limits(trace, steps_of(trace)), ALL)
    read = {
        "stages": drawn,
        "before": {},
        "starts": first,
        "model": model_data(trace, None),
        "measured": measured(trace.n_layers, None, None),
    }
    return merged(json.loads(bytes(template_of(trace).parts)), json.loads(to_json(read)))


@functools.cache
def document_text(trace):
    """The same, as JSON."""
    return json.dumps(document_of(trace))


def given(asked):
    """Pairs of a trace and what is asked of it, as node reads them: each with the document of its pass."""
    parts = [f'{{"document": {document_text(trace)}, {json.dumps(rest)[1:]}' for trace, rest in asked]
    return f"[{','.join(parts)}]"


def with_verdict(trace, runs):
    """The runs of a step, with the model's verdict where it stands in them."""
    return [run for each in runs for run in (verdict(trace) if each[0] == "verdict" else [each])]


def merged(one, other):
    """Both trees in one; where both say something, the other holds."""
    both = one | other
    for name in one.keys() & other.keys():
        if isinstance(one[name], dict) and isinstance(other[name], dict):
            both[name] = merged(one[name], other[name])
    return both
