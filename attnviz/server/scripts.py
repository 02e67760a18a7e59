"""Scripts: the viewer's own, as a browser fetches it. Its name changes with its text, so a browser may keep it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from attnviz.ui.viewer import script

_KEPT = "public, max-age=31536000, immutable"


def route() -> Route:
    """The route of the viewer's script, under any name: a page from before an update asks for the one it knew."""
    return Route("/{base:path}viewer/{name}.js", _script)  # wherever the app is mounted


async def _script(request: Request) -> Response:
    headers = {
        "Vary": "Accept-Encoding",
        "Cache-Control": _KEPT if request.url.path.endswith(script.PATH) else "no-store",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):  # compressed once, not for each of a class
        return Response(script.COMPRESSED, media_type="text/javascript", headers=headers | {"Content-Encoding": "gzip"})
    return Response(script.TEXT, media_type="text/javascript", headers=headers)
