"""The page of the server: its files, and the headers with which they are sent."""

from __future__ import annotations

from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_SHARED = ("base.css", "alignment.css", "alignment.js")
"""The files that the page shares with the pages of `rnnsearch.report`."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def page_routes() -> list[Route]:
    """Return the routes of the page, `/`, and of the files that it loads, `/page/…`. All files are read now, into memory."""
    own = [file for file in (files("rnnsearch.serve") / "page").iterdir() if file.name.rpartition(".")[2] in _TYPES]
    shared = [files("rnnsearch") / "report" / "templates" / name for name in _SHARED]
    contents = {file.name: file.read_bytes() for file in [*own, *shared]}

    def send(name: str) -> Response:
        if name not in contents:
            raise HTTPException(404, "Not Found")
        return Response(contents[name], media_type=_TYPES[name.rpartition(".")[2]], headers=HEADERS)

    async def page(request: Request) -> Response:
        return send("index.html")

    async def file(request: Request) -> Response:
        return send(request.path_params["name"])

    return [Route("/", page), Route("/page/{name}", file)]
