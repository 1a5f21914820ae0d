"""GET /map, /map/papers, /themes, /themes/{id} and /tensions: overviews of a collection."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response
from pydantic import BaseModel

from monjyu_query.questions.map_columns import MOST_DRAWN, Kind, MapColumns, map_columns, papers_of_concept
from monjyu_query.questions.tension_list import LONGEST_CONCEPT, MOST, Tensions
from monjyu_query.questions.theme_page import ThemePage, theme_page
from monjyu_query.questions.theme_tree import Theme, ThemeKind, themes_of, usual_kind
from monjyu_query.service.routes.paper import Collection
from monjyu_query.service.server.error_responses import COMMON, NotFound
from monjyu_query.service.server.request_parts import Shared

router = APIRouter(tags=["papers"], responses=COMMON)


class ConceptPaper(BaseModel):
    """A paper that mentions a concept, and how often."""

    paper_id: str
    title: str
    year: int | None
    mentions: int


class ConceptPapers(BaseModel):
    collection: str
    phrase: str
    papers: list[ConceptPaper]


class Themes(BaseModel):
    """A tree of themes, the heaviest first. `kind` is the kind of this tree, `kinds` are those that the collection has
    at its level."""

    collection: str
    snapshot_id: str
    level: int
    kind: ThemeKind
    kinds: list[ThemeKind]
    themes: list[Theme]


@router.get("/map", response_model=MapColumns, summary="The citation network or the concepts, for drawing")
def whole_map(
    service: Shared,
    collection: Collection = None,
    kind: Annotated[Kind, Query(description="`concepts` needs level 1.")] = "citations",
    limit: Annotated[int, Query(ge=1, le=MOST_DRAWN, description="Number of nodes, largest first.")] = MOST_DRAWN,
) -> Response:
    """Returns columns instead of rows, so that 5,000 nodes and their edges take less than a megabyte."""
    snapshot = service.snapshot(service.only_collection(collection))
    return Response(map_columns(snapshot, kind, limit).model_dump_json(), media_type="application/json")


@router.get("/map/papers", summary="The papers that mention a concept")
def concept_papers(
    service: Shared,
    phrase: Annotated[str, Query(description="As in `ids` of a map of concepts.", min_length=1, max_length=1000)],
    collection: Collection = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> ConceptPapers:
    """Papers that mention it most often come first. For an unknown concept the list is empty."""
    name = service.only_collection(collection)
    rows = papers_of_concept(service.snapshot(name), phrase, limit)
    papers = [ConceptPaper(paper_id=p, title=title, year=year, mentions=n) for p, title, year, n in rows]
    return ConceptPapers(collection=name, phrase=phrase, papers=papers)


@router.get("/themes", summary="The themes of a collection as a tree")
def theme_tree(
    service: Shared,
    collection: Collection = None,
    kind: Annotated[
        ThemeKind | None,
        Query(description="`reports` needs level 3, `communities` level 1; by default the better available one."),
    ] = None,
    widest: Annotated[
        int | None, Query(ge=1, le=100, description="Only the top level, up to this number of themes.")
    ] = None,
) -> Themes:
    name = service.only_collection(collection)
    snapshot = service.snapshot(name)
    level, chosen = snapshot.manifest.level, kind or usual_kind(snapshot)
    kinds: list[ThemeKind] = ["reports", "communities"] if level >= 3 else ["communities"]
    found = themes_of(snapshot, chosen)
    if widest is not None:
        found = [theme for theme in found if theme.parent is None][:widest]
    return Themes(collection=name, snapshot_id=snapshot.id, level=level, kind=chosen, kinds=kinds, themes=found)


@router.get("/themes/{theme_id:path}", summary="One theme with its findings, papers and words")
def one_theme(
    service: Shared,
    theme_id: Annotated[str, Path(description="As in `/themes`.", max_length=100)],
    collection: Collection = None,
) -> ThemePage:
    found = theme_page(service.snapshot(service.only_collection(collection)), theme_id)
    if found is None:
        raise NotFound(f"The collection has no theme {theme_id!r}.", "GET /themes lists its themes.")
    return found


@router.get("/tensions", summary="Contradictions between papers, with both sides quoted")
def tensions(
    service: Shared,
    collection: Collection = None,
    concept: Annotated[
        str | None,
        Query(description="Only statements that contain all of these words.", min_length=1, max_length=LONGEST_CONCEPT),
    ] = None,
    most: Annotated[int, Query(ge=1, le=MOST, description="Maximum number of pairs.")] = 50,
) -> Tensions:
    """The model of `roles.verify` reads the most similar pairs of statements in up to eight cached calls. If it did,
    `built` is true; otherwise `warnings` has the reason."""
    name = service.only_collection(collection)
    return service.served(name).searcher.tensions(concept, most)
