"""All private names of Streamlit that attnviz uses, and the parts of its pages that `page.css` and the browser's
`streamlit.js` rely on. An upgrade may remove any; `tests/app/test_streamlit_private.py` and
`tests/browser/test_browser.py` report those that are gone.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from streamlit import file_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import get_instance
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import ClientContext, SessionClient
from streamlit.web.bootstrap import load_config_options

__all__ = ["BackMsg"]

REASONS = {  # each private name, and why it is needed
    "streamlit.proto.BackMsg_pb2.BackMsg": "to read a browser's message before Streamlit does",
    "streamlit.file_util.get_static_dir": "the hashes of Streamlit's inline scripts are part of the CSP",
    "streamlit.runtime.pages_manager.PagesManager.uses_pages_directory": "a folder pages/ is also an old way to pages",
    "streamlit.runtime.scriptrunner.get_script_run_ctx": "nothing public says what caused a run",
    "streamlit.runtime.get_instance": "the runtime holds the sessions",
    "streamlit.runtime.Runtime.connect_session": "Streamlit ends expired sessions only when another one ends",
    "streamlit.runtime.Runtime.disconnect_session": "the same",
    "streamlit.runtime.Runtime.close_session": "the same",
    "streamlit.runtime.session_manager.SessionClient": "the session that ends at once needs a client",
    "streamlit.runtime.session_manager.ClientContext": "the same",
    "streamlit.web.bootstrap.load_config_options": "only Streamlit's own server loads its settings by itself",
}

SELECTORS = {  # how our styles and scripts find parts of Streamlit's pages, and why
    '[data-testid="stApp"]': "one style of keyboard focus on the whole page; whether the server is connected",
    "[data-test-connection-state]": "a tab that has reconnected makes its server read the address at once",
    'script[src*="/static/js/"]': "our scripts are fetched from where Streamlit's are, wherever the app is mounted",
    '[data-testid="stHeader"]': "a lower menu, hidden while presenting, in a frame and on paper",
    '[data-testid="stMainBlockContainer"]': "narrow margins; the viewer takes the remaining height",
    '[data-testid="stVerticalBlock"]': "small gaps; controls stay in view beside their pictures",
    '[data-testid="stColumn"]': "the same",
    '[data-testid="stLayoutWrapper"]': "text for screen readers takes no space; the viewer may be lower than its text",
    '[data-testid="stElementContainer"]': "the viewer is as high as its container; a wide matrix scrolls",
    ".stBidiComponent": "the same",
    '[data-testid="stBidiComponentIsolated"]': "the same",
    '[data-testid="stTopNavSection"]': "the menu is marked that the open page is in",
    '[data-testid="stAlertContainer"]': "low notices",
    '[data-testid="stDialog"]': "a talk goes on without a server, which Streamlit would cover with a dialog",
    '[data-testid="stSidebar"]': "the keyboard skips a collapsed menu; none opens where the menu is at the top",
    '[data-collapsed="true"]': "the same",
    '[data-testid="stExpandSidebarButton"]': "on a phone the menu's button is a word",
    '[data-testid="stSidebarNavLink"]': "links large enough for a finger; a click closes the menu",
    '[data-testid="stSidebarCollapseButton"]': "a phone's menu closes by a character",
    '[data-testid="stMainMenuList"]': "no menu needs the icon font",
    '[data-testid="stIconMaterial"]': "the same",
    '[data-selected="true"]': "a selected option stays readable on its colour",
    ".js-plotly-plot": "Plotly's labels stay readable on a coloured cell",
    ".streamlit-embedded": "no header in another site's frame",
}

# parts of its page, index.html: changed where they are found once (index_page.py)
INDEX_TITLE = re.compile(r"<title>Streamlit</title>")  # seen until the first run
INDEX_STYLESHEET = re.compile(r'<link rel="stylesheet"[^>]*>')  # moved: it would delay the first paint
# the font of the first moment
INDEX_FONT = re.compile(r'<link\s+rel="preload"\s+href="(?P<address>[^"]+)"\s+as="font"[^>]*>')
# the scripts that it only fetches once it draws what every page of ours has, a component and a style, and theirs
_LATE = ("BidiComponent", "Html")
_IMPORTED = re.compile(r"""(?:from|import)["`]\./(?P<name>[^"`]+)["`]""")


def configure(options: Mapping[str, object]) -> None:
    """Set Streamlit's options by name, in a process that Streamlit doesn't start."""
    load_config_options(dict(options))


def stop_looking_for_pages() -> bool:
    """Stop Streamlit from making pages of the folder `pages/`; returns whether it did so far. In this old way the link
    of a page, on a server that has just started, runs it without `app.py`, under a menu of file names.
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


def late_scripts() -> list[str]:
    """The paths of the scripts that Streamlit fetches late though every page of ours needs them, below its page."""
    scripts, page = static_folder() / "static" / "js", (static_folder() / "index.html").read_text("utf-8")
    found: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in page and name not in found and (scripts / name).is_file():
            found[name] = None
            for imported in _IMPORTED.finditer((scripts / name).read_text("utf-8")):
                add(imported["name"])

    for late in _LATE:
        for path in scripts.glob(f"{late}.*.js"):
            add(path.name)
    return [f"static/js/{name}" for name in found]


def end_expired_sessions() -> None:
    """Make Streamlit end expired sessions, which it does only when some session ends: open one and end it."""
    runtime = get_instance()
    session = runtime.connect_session(_NoClient(), {})
    runtime.disconnect_session(session)
    runtime.close_session(session)


class _NoClient(SessionClient):
    """The client of that session."""

    def write_forward_msg(self, msg: object) -> None:
        """Drop the message."""

    @property
    def client_context(self) -> ClientContext | None:
        """No request."""
        return None
