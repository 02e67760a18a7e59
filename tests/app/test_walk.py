"""The walk from what a browser posts to its reply goes one way, and is short."""

import functools
import sys
from pathlib import Path

from posts import new_tab, said

import attnviz
from attnviz.app.browser_tabs import actions_response

PRODUCT = Path(attnviz.__file__).parent
MAX_STAYS = 12
CACHING = str(PRODUCT / "core" / "trace.py"), "_cached.<locals>.cached"
"""The wrapper around cached functions of other packages: it calls nothing by itself."""


@functools.cache
def place_of(file):
    """The module of a file on the walk, and the package of the others; empty for files of others."""
    if not file.startswith(str(PRODUCT)):
        return ""
    package, *inner = Path(file).relative_to(PRODUCT).with_suffix("").parts
    return "/".join((package, *inner)) if package in ("app", "contract", "scene") else package


def paths_of(run):
    """The sequences of places that calls lead through, from the first one on."""
    paths, path = set(), [()]

    def heard(frame, event, _):
        if event == "call":
            code = frame.f_code
            place = "" if (code.co_filename, code.co_qualname) == CACHING else place_of(code.co_filename)
            path.append(path[-1] if place in ("", *path[-1][-1:]) else (*path[-1], place))
            paths.add(path[-1])
        elif event == "return" and len(path) > 1:
            path.pop()

    sys.setprofile(heard)
    try:
        run()
    finally:
        sys.setprofile(None)
    return paths


def test_from_an_action_to_its_reply_no_call_enters_a_module_twice_and_none_goes_deep():
    tab = new_tab("on a walk")
    beside = {"sentence": "on a walk", "beside": "mask=causal", "cell": "1.2.1.1.1"}
    bodies = [
        said(tab, ("sentence", "on another walk"), look="?cell=1.3.2.1.1", address={"sentence": "on a walk"}),
        said(tab, ("change", {"cell": "q[0,1,0]", "value": 2.5}), address=beside),
        said(tab, ("unpin", True), view="audit", address=beside),
    ]
    replies = []
    paths = paths_of(lambda: replies.extend(actions_response(tab, body) for body in bodies))
    assert [reply.status_code for reply in replies] == [200, 200, 200]
    assert b"q[0,1,0]=2.5" in replies[1].body
    assert [path for path in paths if len(set(path)) < len(path)] == []
    assert max(map(len, paths)) <= MAX_STAYS
    through = {place for path in paths for place in path}
    assert {"app/browser_tabs", "scene/actions/session", "scene/document/reply", "explain", "core"} <= through
