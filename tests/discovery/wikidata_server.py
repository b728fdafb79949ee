"""Wikidata with the answers that a test wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Answer = Callable[[Request], Response] | Response


class Stub:
    """Wikidata's two endpoints, which answer whatever a test wants. `asked` keeps the requests."""

    def __init__(self, search: Answer, query: Answer | None = None) -> None:
        self.asked: list[Request] = []
        self._answers = {"/w/api.php": search, "/sparql": query or bindings([])}

    @property
    def routes(self) -> list[Route]:
        return [Route(path, self._answer) for path in self._answers]

    def queries(self) -> list[str]:
        return [request.query_params["query"] for request in self.asked if request.url.path == "/sparql"]

    async def _answer(self, request: Request) -> Response:
        self.asked.append(request)
        answer = self._answers[request.url.path]
        return answer if isinstance(answer, Response) else answer(request)


def found(*ids: Any) -> Response:
    return JSONResponse({"searchinfo": {}, "search": [{"id": item} for item in ids], "success": 1})


def bindings(rows: list[Any]) -> Response:
    return JSONResponse({"head": {"vars": ["item", "what", "value"]}, "results": {"bindings": rows}})


def row(item: str, what: str, value: str, language: str = "en") -> dict[str, Any]:
    return {
        "item": {"type": "uri", "value": f"http://www.wikidata.org/entity/{item}"},
        "what": {"type": "literal", "value": what},
        "value": {"type": "literal", "value": value, "xml:lang": language},
    }
