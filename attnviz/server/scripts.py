"""Scripts: those of our components, as a browser fetches them. Another text has another name, so it may keep them."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from attnviz.viewer.script import SCRIPTS

_KEPT = "public, max-age=31536000, immutable"


def route() -> Route:
    """The route of a script, under any name that it had: a page from before an update asks for the one it knew."""
    return Route("/{base:path}viewer/{name}-{text}.js", _script)  # wherever the app is mounted


async def _script(request: Request) -> Response:
    script = SCRIPTS.get(request.path_params["name"])
    if script is None:
        return PlainTextResponse("There is no such script. Reload the page.", 404)
    headers = {
        "Vary": "Accept-Encoding",
        "Cache-Control": _KEPT if request.url.path.endswith(script.path) else "no-store",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):  # compressed once, not for each of a class
        return Response(script.compressed, media_type="text/javascript", headers=headers | {"Content-Encoding": "gzip"})
    return Response(script.text, media_type="text/javascript", headers=headers)
