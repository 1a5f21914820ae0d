"""Serves the files of the web page, so that browsers fetch them together and cache them while they are unchanged."""

import hashlib
import json
import re
from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from monjyu_core.language.packs import LANGUAGES
from monjyu_query.answer_packages import all_forms
from monjyu_query.asking.fields import asked_as, kinds_of
from monjyu_query.asking.request import BasicQuestion, Filters
from monjyu_query.citations import export as citation_export
from monjyu_query.digests import table_export
from monjyu_query.papers.library_table import FACETS, SEARCHED
from monjyu_query.reviews import export as review_export

STATIC = Path(__file__).parents[1] / "static"
FOREVER = "public, max-age=31536000, immutable"
_VERSION = re.compile(r"v[0-9a-f]{12}")
_IMPORT = re.compile(r"""^(?:import|export)\b[^;"]*?["](\.{1,2}/[^"]+)["]""", re.MULTILINE)
_SHEET = re.compile(r'<link rel="stylesheet" href="/static/(styles/[^"]+)">\n')
_JOINED = {f"styles/{page}.css": page for page in ("index.html", "docs.html")}
_MODULE = re.compile(r'<script type="module" src="/static/([^"]+)">')


class PageFiles(StaticFiles):
    """Serves the page's files. `/static/VERSION/...` may be cached forever if VERSION is the current one; other paths
    must be revalidated, including those of a page that was opened before an upgrade."""

    def __init__(self) -> None:
        super().__init__(directory=STATIC)

    async def get_response(self, path: str, scope: Scope) -> Response:
        first, _, rest = path.partition("/")
        path = rest if _VERSION.fullmatch(first) else path
        page = _JOINED.get(path)
        response: Response = (
            Response(_styles(page), media_type="text/css") if page else await super().get_response(path, scope)
        )
        response.headers["Cache-Control"] = FOREVER if first == version() else "no-cache"
        return response


@cache
def version() -> str:
    """Return a version of all files together, so that modules of two versions are never mixed."""
    digest = hashlib.sha256()
    for path in sorted(STATIC.rglob("*.*")):
        digest.update(str(path.relative_to(STATIC)).encode() + b"\0" + path.read_bytes())
    return f"v{digest.hexdigest()[:12]}"


@cache
def html(name: str) -> str:
    """Return a page with the version in the addresses of its files, one style sheet, and links to the modules that its
    script imports, so that a browser fetches them together instead of one after the other."""
    text = (STATIC / name).read_text("utf-8")
    found = _MODULE.search(text)
    links = [f'<link rel="modulepreload" href="/static/{path}">\n' for path in modules_of(found[1])] if found else []
    first, *others = _SHEET.split(text)[::2]
    text = f'{first}<link rel="stylesheet" href="/static/styles/{name}.css">\n{"".join(others)}'
    text = text.replace("</head>", "".join(links) + "</head>").replace("{{declared}}", _declared())
    return text.replace("/static/", f"/static/{version()}/")


@cache
def _styles(name: str) -> str:
    """Return a page's style sheets as one: compressed together, they are half as large."""
    return "\n".join((STATIC / path).read_text("utf-8") for path in _SHEET.findall((STATIC / name).read_text("utf-8")))


_EXPORTS = {"bibliography": citation_export, "answer": all_forms, "table": table_export, "review": review_export}
"""The module with the formats of each export."""


def _declared() -> str:
    """Return, as JSON, the filters and budgets of a question, the library's facets and the formats of exports, from
    which the page builds its forms."""
    filters = []
    for name, field in Filters.model_fields.items():
        asked, kinds = asked_as(field), kinds_of(field.annotation)
        choices = [kind for kind in kinds if isinstance(kind, str)] or None
        labels = dict(zip(LANGUAGES, asked.labels, strict=True)) if asked.labels else None
        kind = {int: "integer", bool: "boolean"}.get(kinds[0], "text")
        one = {"name": name, "one": asked.one or name, "kind": kind, "many": kinds[0] is list}
        filters.append(one | {"choices": choices, "labels": labels})
    budgets = [kind for kind in kinds_of(BasicQuestion.model_fields["budget"].annotation) if isinstance(kind, str)]
    forms = {
        what: [{"name": name, "label": form.label, "ending": form.ending} for name, form in module.FORMS.items()]
        for what, module in _EXPORTS.items()
    }
    facets = [{"name": name, "kind": kind, "searched": kind in SEARCHED} for name, kind in FACETS.items()]
    declared = {"filters": filters, "budgets": budgets, "facets": facets, "forms": forms}
    return json.dumps(declared, ensure_ascii=False).replace("<", "\\u003c")


def modules_of(script: str) -> list[str]:
    """Return the paths in `static` of the modules that a module imports, directly or not, except dynamically."""
    found: dict[str, None] = {}
    waiting = [STATIC / script]
    while waiting:
        path = waiting.pop()
        for name in _IMPORT.findall(path.read_text("utf-8")):
            other = (path.parent / name).resolve()
            if str(other.relative_to(STATIC)) not in found:
                found[str(other.relative_to(STATIC))] = None
                waiting.append(other)
    return list(found)


def page_answer(name: str) -> Response:
    return HTMLResponse(html(name), headers={"Cache-Control": "no-cache"})
