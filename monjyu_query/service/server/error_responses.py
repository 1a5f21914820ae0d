"""Turns every error into a JSON response: `{"error": {"type", "message", "request_id"}}`."""

import logging
import re

import duckdb
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from monjyu_core.errors import ConfigurationError, ExternalAPIError, LLMError, MonjyuError, QueryError, StorageError
from monjyu_core.settings.names import sentence
from monjyu_core.settings.settings import data_folder
from monjyu_core.values import Values
from monjyu_query.asking.request import problem

_log = logging.getLogger(__name__)


class ErrorDetail(BaseModel):
    """An error: `type` is for programs, `message` for people, `request_id` identifies the request in the log."""

    type: str
    message: str
    request_id: str


class ErrorBody(BaseModel):
    error: ErrorDetail


class ServiceError(MonjyuError, HTTPException):
    """An error with its own HTTP status. It is also an HTTPException, because FastAPI replaces all other exceptions
    while it reads a body."""

    status = 500

    def __init__(self, message: str, hint: str = "", headers: dict[str, str] | None = None) -> None:
        MonjyuError.__init__(self, message, hint)
        self.status_code = self.status
        self.detail = str(self)
        self.headers: dict[str, str] = headers or {}


class NotFound(ServiceError):
    status = 404


class Unauthorized(ServiceError):
    status = 401


class Forbidden(ServiceError):
    status = 403


class Conflict(ServiceError):
    status = 409


class TooLarge(ServiceError):
    status = 413


class TooMany(ServiceError):
    status = 429


class ClientDisconnected(ServiceError):
    """Nobody reads this response; its status appears only in the audit log and the metrics."""

    status = 499


class Busy(ServiceError):
    status = 503


_STATUS: tuple[tuple[type[MonjyuError], int], ...] = (
    (QueryError, 409),
    (ConfigurationError, 409),
    (LLMError, 502),
    (ExternalAPIError, 502),
    (StorageError, 503),
)
OPENAI = "/v1"
"""The path of OpenAI's API. Paths below it also have OpenAI's errors."""
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_OPENAI_CODES = {"Unauthorized": "invalid_api_key", "TooMany": "rate_limit_exceeded"}
_NAMES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    408: "RequestTimeout",
    409: "Conflict",
    413: "TooLarge",
    415: "UnsupportedMediaType",
    421: "WrongHost",
    422: "InvalidRequest",
    431: "HeadersTooLarge",
    500: "InternalError",
}

COMMON: dict[int | str, Values] = {
    400: {"model": ErrorBody, "description": "The request is not valid HTTP."},
    401: {"model": ErrorBody, "description": "A key is missing or wrong."},
    403: {"model": ErrorBody, "description": "The key's role does not allow it."},
    404: {"model": ErrorBody, "description": "There is no such collection, paper, page or trace."},
    409: {
        "model": ErrorBody,
        "description": "The values contradict each other, or the collection cannot serve them.",
    },
    413: {"model": ErrorBody, "description": "The body is too large."},
    422: {"model": ErrorBody, "description": "A value is missing or wrong."},
    429: {"model": ErrorBody, "description": "Too many requests."},
    500: {"model": ErrorBody, "description": "An internal error of the service."},
    502: {"model": ErrorBody, "description": "A server behind the service did not answer."},
    503: {"model": ErrorBody, "description": "The index cannot be read now, or too many searches are waiting."},
}
"""The error responses that every operation may return."""


def request_id_of(request: Request) -> str:
    return str(request.scope.get("state", {}).get("request_id", ""))


def body_of(kind: str, message: str, request_id: str) -> Values:
    return {"error": {"type": kind, "message": message, "request_id": request_id}}


def openai_body(status: int, kind: str, message: str, request_id: str, param: str | None = None) -> Values:
    """Return an error in OpenAI's form: `type` by status, `code` for programs, `param` the wrong field."""
    usual = "invalid_request_error" if status < 500 else "server_error"
    code = _OPENAI_CODES.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
    error = {"message": message, "type": _OPENAI_TYPES.get(status, usual), "param": param, "code": code}
    return {"error": error | {"request_id": request_id}}


def _is_openai(path: str) -> bool:
    return path.startswith(f"{OPENAI}/") or path == OPENAI


def _body(path: str, status: int, kind: str, message: str, request_id: str, param: str | None = None) -> Values:
    openai = _is_openai(path)
    return openai_body(status, kind, message, request_id, param) if openai else body_of(kind, message, request_id)


def name_of(status: int) -> str:
    return _NAMES.get(status, "Error")


def described(error: Exception) -> tuple[int, str, str, dict[str, str]]:
    """Return the status, type, message and headers for an error. An unexpected error is described only as a failure of
    the service."""
    if isinstance(error, ServiceError):
        return error.status, type(error).__name__, str(error), error.headers
    if isinstance(error, MonjyuError):
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        message = str(error).replace(str(data_folder()), "the data folder")  # its location must not be shown
        return status, type(error).__name__, message, {}
    return 500, name_of(500), "The service failed; its log has more under this request id.", {}


async def _monjyu(request: Request, error: Exception) -> JSONResponse:
    status, kind, message, headers = described(error)
    if status >= 500:
        _log.error("Request %s: %s", request_id_of(request), error)
    request_id, param = request_id_of(request), getattr(error, "param", None)
    return JSONResponse(_body(request.url.path, status, kind, message, request_id, param), status, headers)


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, MonjyuError):
        return await _monjyu(request, error)
    status, path, message = error.status_code, request.url.path, str(error.detail)
    headers = dict(error.headers or {})
    routes = request.app.openapi()["paths"] if status in (404, 405) else {}
    if status == 405 and path in routes:
        # The router reports only the methods of the first of several routes of the path.
        headers["Allow"] = ", ".join(sorted(method.upper() for method in routes[path]))
        message = f"{path} accepts {headers['Allow']}, not {request.method}. See /docs."
    elif status == 404 and message == "Not Found":
        there = [f"{method.upper()} {one}" for one in routes if _is_openai(one) for method in routes[one]]
        message = f"There is no {path}. {'There are ' + ', '.join(there) if _is_openai(path) else 'See /docs'}."
    content = _body(path, status, name_of(status), message, request_id_of(request))
    return JSONResponse(content, status, headers)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Report invalid values with 422, and valid values that contradict each other (`input` is then the whole object)
    with 409. Below /v1, both are 400."""
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    known = _names_taken(request)
    problems = sentence(problem({**one, "loc": one["loc"][1:] or one["loc"]}, known) for one in found)
    together = all(one["type"] == "value_error" and isinstance(one.get("input"), dict) for one in found)
    status = 409 if together else 422
    param = ".".join(str(part) for part in found[0]["loc"][1:] if found[0]["type"] != "json_invalid") or None
    path, request_id = request.url.path, request_id_of(request)
    status = 400 if _is_openai(path) else status  # OpenAI's clients do not handle 422, and retry a 409
    return JSONResponse(_body(path, status, name_of(status), problems, request_id, param), status)


def known_parameters(request: Request) -> None:
    """Raise RequestValidationError if the address has a parameter that the operation does not accept, because a
    misspelt filter would return more than requested."""
    known = _parameters(request.scope["route"].dependant) if request.query_params else []
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise RequestValidationError([{"type": "extra_forbidden", "loc": ("query", name)} for name in unknown])


def _parameters(operation: Dependant) -> list[str]:
    names = [name for needed in operation.dependencies for name in _parameters(needed)]
    for field in operation.query_params:
        inner = getattr(field.field_info.annotation, "model_fields", {})
        names += [one.alias or name for name, one in inner.items()] or [field.alias]
    return names


def _names_taken(request: Request) -> list[str]:
    """Return the names that the body or, without one, the query of a request to this route may contain."""
    described, route = request.app.openapi(), request.scope.get("route")
    operation = described["paths"].get(getattr(route, "path", ""), {}).get(request.method.lower(), {})
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
    names = list(described["components"]["schemas"].get(name, {}).get("properties", ()))
    return names or (_parameters(route.dependant) if isinstance(route, APIRoute) else [])


async def _damaged(request: Request, error: Exception) -> JSONResponse:
    """Report that a snapshot's database file is damaged or missing. All snapshots are opened again, because it is not
    known here which one failed."""
    _log.error("Request %s: %s", request_id_of(request), error)
    request.app.state.service.forget()
    unreadable = StorageError(
        "The index cannot be read: files of its snapshot are damaged or missing.",
        "`monjyu snapshots verify` reports the damage. Index the collection again to rebuild the snapshot.",
    )
    return await _monjyu(request, unreadable)


def add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(duckdb.Error, _damaged)
    app.add_exception_handler(MonjyuError, _monjyu)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)


async def send_error(error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Send an error from outside the application."""
    status, kind, message, headers = described(error)
    request_id = str(scope["state"]["request_id"])
    content = _body(str(scope.get("path", "")), status, kind, message, request_id)
    await JSONResponse(content, status, headers)(scope, receive, send)
