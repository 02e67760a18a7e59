"""Where the app is mounted: by another app, by Streamlit's `server.baseUrlPath`, or by both."""

import streamlit as st
from starlette.types import Scope


def base_path(scope: Scope) -> str:
    """The path that the app is mounted at, without a slash at its end."""
    return scope.get("root_path", "") + f"/{st.get_option('server.baseUrlPath').strip('/')}".rstrip("/")


def local_path(scope: Scope) -> str | None:
    """The path below the mount path: empty at the mount path itself, None for a path that isn't below it."""
    base, path = base_path(scope), scope["path"]
    return path[len(base) :] if f"{path}/".startswith(f"{base}/") else None
