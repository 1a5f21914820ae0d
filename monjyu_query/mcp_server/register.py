"""Registers tools, which their docstrings describe. They explain which arguments are wrong, and ignore empty ones."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter
from typing import Annotated, Any, TypeVar, get_origin

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations
from pydantic import BaseModel, Field, ValidationError
from pydantic.fields import FieldInfo

from monjyu_core.errors import MonjyuError
from monjyu_core.settings.names import sentence
from monjyu_core.settings.settings import data_folder
from monjyu_core.values import Values
from monjyu_query.api.facade_async import AsyncMonjyu
from monjyu_query.asking.request import problem, unknown_name
from monjyu_query.asking.which_collection import require_collection

# Errors in terms on which a model can act: the tool or argument that corrects them.
_INSTEAD = {
    "`monjyu papers list` shows what it has.": "Find its papers with monjyu_search, or read the resource "
    "monjyu://COLLECTION/papers.",
    "Start with `monjyu index FOLDER`.": "monjyu_status shows what can be indexed, monjyu_index indexes it.",
    "There are none yet: run `monjyu index FOLDER`.": "There are none yet: monjyu_status shows what can be indexed.",
    "Name one (-c NAME, collection= in Python)": "Name one as `collection`",
}
"""Hints for the command line, with their equivalents for a client of this server."""


def advice(error: MonjyuError) -> str:
    """Return the error's message and hint, in terms of tools and without the path of the data folder."""
    text = str(error).replace(str(data_folder()), "the data folder")
    for command, tool in _INSTEAD.items():
        text = text.replace(command, tool)
    return text


@contextmanager
def as_tool_errors() -> Iterator[None]:
    """Turn a MonjyuError in the block into a ToolError, which becomes the tool's reply."""
    try:
        yield
    except MonjyuError as error:
        raise ToolError(advice(error)) from error


Function = TypeVar("Function", bound=Callable[..., Any])

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


_NOTHING = frozenset({"", "null", "none", "undefined"})
"""Values that models write for an unused argument."""


class StrictTool(Tool):
    """A tool that rejects unknown arguments, and reports all wrong arguments of a call together."""

    check_collection: Callable[[str], Awaitable[str]] = Field(exclude=True)

    async def run(self, arguments: Values, context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Run the tool. Raises ToolError for arguments that are unknown, missing or of the wrong kind."""
        arguments = self.given(arguments)
        known = list(self.fn_metadata.arg_model.model_fields)
        problems = [unknown_name([name], known) for name in arguments if name not in known]
        try:
            self.fn_metadata.validate_arguments(arguments)
        except ValidationError as error:
            problems += [problem(one, known) for one in error.errors(include_url=False)]
        if problems:
            collection = arguments.get("collection")
            if self.annotations == READS and isinstance(collection, str):
                problems += filter(None, [await self.check_collection(collection)])
            told = sentence(problems)
            listed = "" if "There are" in told else f" It accepts {', '.join(known)}."
            raise ToolError(f"{self.name}: {told}{listed}")
        return await super().run(arguments, context, convert_result)

    def given(self, arguments: Mapping[str, Any]) -> Values:
        """Return the arguments without nulls, and without optional ones whose value is a word for no value."""
        fields = self.fn_metadata.arg_model.model_fields
        needed = {name for name, field in fields.items() if field.is_required()}
        given = {name: _without_nulls(value) for name, value in arguments.items()}
        return {name: v for name, v in given.items() if v is not None and (name in needed or not _is_nothing(v))}


class Tools:
    """The tools of a server, in the order of registration."""

    def __init__(self, monjyu: AsyncMonjyu) -> None:
        self._monjyu = monjyu
        self.all: list[Tool] = []

    def add(self, title: str, function: Callable[..., Any], annotations: ToolAnnotations = READS) -> None:
        """Register a function as a tool under its own name, described by its docstring."""
        about = inspect.cleandoc(function.__doc__ or "")
        plain = Tool.from_function(function, title=title, description=about, annotations=annotations)
        plain.parameters["additionalProperties"] = False
        fields = {name: getattr(plain, name) for name in Tool.model_fields}
        self.all.append(StrictTool(**fields, check_collection=self._wrong_collection))

    async def _wrong_collection(self, name: str) -> str:
        """Return what is wrong with a collection's name, or an empty string."""
        try:
            await self._monjyu.run(lambda: require_collection(self._monjyu.blocking.data, name))
        except MonjyuError as error:
            return f"collection: {advice(error)}"
        return ""


def takes_fields_of(model: type[BaseModel], *, without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Replace a tool's `**arguments` by the fields of a model. A parameter that the tool annotates with `Annotated`
    replaces the field of the same name."""

    def with_fields(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = {name: one for name, one in signature.parameters.items() if one.kind is not Parameter.VAR_KEYWORD}
        fields = {name: one for name, one in model.model_fields.items() if name not in without}
        parameters = {name: _parameter(name, field) for name, field in fields.items()}
        for name, one in own.items():
            if name not in fields or get_origin(one.annotation) is Annotated:
                parameters[name] = one.replace(kind=Parameter.KEYWORD_ONLY)
        parameters.pop("self")
        ordered = signature.replace(parameters=[own["self"], *parameters.values()])
        function.__signature__ = ordered  # type: ignore[attr-defined]
        return function

    return with_fields


def _parameter(name: str, field: FieldInfo) -> Parameter:
    default = Parameter.empty if field.is_required() else field.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[field.annotation, field])


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().casefold() in _NOTHING)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(inner) for name, inner in value.items() if inner is not None}
    return [_without_nulls(inner) for inner in value if not _is_nothing(inner)] if isinstance(value, list) else value
