"""All private names of Streamlit that attnviz uses. An upgrade may remove any of them.

No other module imports a part of Streamlit, and what `frame` and the
browser find in its pages is listed here; `tests/app/test_streamlit_private.py` and
`tests/browser/test_streamlit_page.py` say which name is gone. How its pages work is known
to the browser's `seams/streamlit` alone.
"""

from collections.abc import Mapping
from pathlib import Path

from streamlit import file_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import get_instance
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import ClientContext, SessionClient
from streamlit.web.bootstrap import load_config_options

__all__ = [
    "BackMsg",
    "address",
    "configure",
    "end_expired_sessions",
    "is_navigation",
    "page",
    "static_folder",
    "stop_looking_for_pages",
]

REASONS = {
    "streamlit.proto.BackMsg_pb2.BackMsg": "what a browser sends has to be read before Streamlit hears it",
    "streamlit.file_util.get_static_dir": "the hashes of Streamlit's inline scripts are part of the CSP",
    "streamlit.runtime.pages_manager.PagesManager.uses_pages_directory": "a folder pages/ is also an old way to pages",
    "streamlit.runtime.scriptrunner.get_script_run_ctx": "a run doesn't say otherwise what led to it",
    "streamlit.runtime.get_instance": "the runtime holds the sessions",
    "streamlit.runtime.Runtime.connect_session": "Streamlit ends expired sessions only when another one ends",
    "streamlit.runtime.Runtime.disconnect_session": "the same",
    "streamlit.runtime.Runtime.close_session": "the same",
    "streamlit.runtime.session_manager.SessionClient": "a session that ends at once has a client",
    "streamlit.runtime.session_manager.ClientContext": "the same",
    "streamlit.web.bootstrap.load_config_options": "another server than Streamlit's is given no settings",
}
"""Each private name, and why it is needed."""

SELECTORS = {
    '[data-testid="stApp"]': "all of the page has one outline for the keyboard, and says whether it has its server",
    "[data-test-connection-state]": "a tab that is back has its server read the address at once",
    'script[src*="/static/js/"]': "our scripts are fetched from beside Streamlit's own, wherever the app is served",
    '[data-testid="stHeader"]': "the menu is lower, and away while presenting, in a frame and on paper",
    '[data-testid="stMainBlockContainer"]': "a page has little around it, and the viewer all the height that is left",
    '[data-testid="stVerticalBlock"]': "parts of a page are close; what one chooses stays beside its pictures",
    '[data-testid="stColumn"]': "the same",
    '[data-testid="stLayoutWrapper"]': "what is only heard takes no room; the viewer can be smaller than its content",
    '[data-testid="stElementContainer"]': "the viewer is as high as its container; a wide matrix is scrolled",
    ".stBidiComponent": "the same",
    '[data-testid="stBidiComponentIsolated"]': "the same",
    '[data-testid="stAlertContainer"]': "notices are low",
    '[data-testid="stDialog"]': "what needs no server goes on without one, which Streamlit says over all of it",
    '[data-testid="stSidebar"]': "a menu that is out of sight is out of reach",
    '[data-collapsed="true"]': "the same",
    '[data-testid="stExpandSidebarButton"]': "a phone's way to the pages is a word, not a sign that nobody sees",
    '[data-testid="stSidebarNavLink"]': "a finger hits it, and closes the menu, which Streamlit leaves over the page",
    '[data-selected="true"]': "what is chosen can be read on its own colour",
    ".js-plotly-plot": "Plotly's letters can be read on a coloured cell",
    ".streamlit-embedded": "in somebody's frame there is no header",
}
"""The selectors by which our styles and scripts find parts of Streamlit's pages, and why."""


def configure(options: Mapping[str, object]) -> None:
    """Set Streamlit's options by name, in a process that Streamlit doesn't start."""
    load_config_options(dict(options))


def stop_looking_for_pages() -> bool:
    """Stop Streamlit from making pages of the folder `pages/`; returns whether it did so far.

    It is also Streamlit's old way of making pages: on a server that has just
    started, the link of a page runs it without `app.py`, under a menu of file
    names.
    """
    did = bool(PagesManager.uses_pages_directory)
    if did:
        PagesManager.uses_pages_directory = False
    return did


def is_navigation() -> bool:
    """Whether this run is for the browser's Back or Forward."""
    return bool(get_script_run_ctx().is_history_navigation)


def page() -> str:
    """The id of the page of this run."""
    return get_script_run_ctx().page_script_hash


def address() -> str:
    """The unparsed query string of this run's address."""
    return get_script_run_ctx().query_string


def static_folder() -> Path:
    """The folder of Streamlit's page and scripts."""
    return Path(file_util.get_static_dir())


def end_expired_sessions() -> None:
    """Make Streamlit end expired sessions, which it does only when some session ends: open one and end it."""
    runtime = get_instance()
    session = runtime.connect_session(_Nobody(), {})
    runtime.disconnect_session(session)
    runtime.close_session(session)


class _Nobody(SessionClient):
    """The client of that session."""

    def write_forward_msg(self, msg: object) -> None:
        """Drop the message."""

    @property
    def client_context(self) -> ClientContext | None:
        """No request."""
        return None
