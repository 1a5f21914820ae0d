"""Exported libraries: BibTeX, CSL JSON, Better BibTeX JSON, Zotero RDF; and what stands beside a paper from them."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from monjyu_assets.indexing.requests import import_library
from monjyu_assets.libraries.bibliography_files import read_library_file
from monjyu_assets.libraries.library_folder import LibraryItem
from monjyu_assets.libraries.syncing import READABLE, sync_library
from monjyu_core.errors import ConfigurationError
from monjyu_core.paper import ParsedPaper
from monjyu_core.records.corrections import PaperIdentity, correct
from monjyu_core.settings.settings import load_settings
from monjyu_core.storage.folders import DataFolder
from monjyu_core.storage.snapshot import open_current
from monjyu_core.text.unicode_words import has_controls
from monjyu_query.papers.records import show_paper
from tests.assets.worlds import World
from tests.conftest import SAMPLES
from tests.limits import ends

BIB = r"""
@article{hopper1952,
  title = {The {Education} of a Computer}, author = {Hopper, Grace M. and G{\"o}del, Kurt}, year = {1952},
  journal = {Proceedings of the ACM}, doi = {10.1145/609784.609818}, keywords = {compilers, history},
  abstract = {A compiling routine makes programs.}, groups = {Thesis > Methods},
  file = {Full Text:files/12/language\:merging.pdf:application/pdf;:/etc/passwd.pdf:PDF}
}
@misc{noyear, title = {Without a year}, eprint = {2001.01234}, archiveprefix = {arXiv}}
@book{broken, title = {Unclosed
"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:z="http://www.zotero.org/namespaces/export#"
 xmlns:dcterms="http://purl.org/dc/terms/" xmlns:bib="http://purl.org/net/biblio#" xmlns:foaf="http://xmlns.com/foaf/0.1/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:link="http://purl.org/rss/1.0/modules/link/"
 xmlns:prism="http://prismstandard.org/namespaces/1.2/basic/">
  <bib:Article rdf:about="http://example.org/a">
    <z:itemType>journalArticle</z:itemType>
    <dcterms:isPartOf><bib:Journal><dc:title>Proceedings of the ACM</dc:title>
      <dc:identifier>DOI 10.1145/609784.609818</dc:identifier></bib:Journal></dcterms:isPartOf>
    <bib:authors><rdf:Seq><rdf:li><foaf:Person>
      <foaf:surname>Hopper</foaf:surname><foaf:givenName>Grace M.</foaf:givenName></foaf:Person></rdf:li></rdf:Seq>
    </bib:authors>
    <dcterms:isReferencedBy rdf:resource="#note"/><link:link rdf:resource="#item_12"/>
    <dc:subject>compilers</dc:subject>
    <dc:subject><z:AutomaticTag><rdf:value>history</rdf:value></z:AutomaticTag></dc:subject>
    <dc:title>The Education of a Computer</dc:title>
    <dcterms:abstract>A compiling routine makes programs.</dcterms:abstract><dc:date>May 1952</dc:date>
  </bib:Article>
  <bib:Memo rdf:about="#note"><rdf:value>my secret note</rdf:value></bib:Memo>
  <z:Attachment rdf:about="#item_12"><z:itemType>attachment</z:itemType>
    <rdf:resource rdf:resource="files/12/language:merging.pdf"/><dc:title>PDF</dc:title></z:Attachment>
  <z:Collection rdf:about="#collection_1"><dc:title>Thesis</dc:title>
    <dcterms:hasPart rdf:resource="#collection_2"/></z:Collection>
  <z:Collection rdf:about="#collection_2"><dc:title>Methods</dc:title>
    <dcterms:hasPart rdf:resource="http://example.org/a"/></z:Collection>
</rdf:RDF>"""
BETTER = {
    "config": {"label": "BetterBibTeX JSON"},
    "collections": {
        "C1": {"name": "Thesis", "parent": "", "items": []},
        "C2": {"name": "Methods", "parent": "C1", "items": [7]},
    },
    "items": [
        {
            "itemType": "journalArticle",
            "itemID": 7,
            "itemKey": "AAAA2222",
            "title": "The Education of a Computer",
            "creators": [{"firstName": "Grace M.", "lastName": "Hopper", "creatorType": "author"}],
            "date": "1952-05",
            "DOI": "10.1145/609784.609818",
            "abstractNote": "A compiling routine makes programs.",
            "publicationTitle": "Proceedings of the ACM",
            "tags": [{"tag": "compilers"}, {"tag": "history", "type": 1}],
            "attachments": [{"itemType": "attachment", "path": "files/12/language:merging.pdf"}],
            "notes": [{"note": "my secret note"}],
        },
        {"itemType": "note", "itemKey": "NNNN2222", "title": "my secret note"},
    ],
}
CSL = [
    {
        "id": "hopper1952",
        "title": "The Education of a Computer",
        "author": [{"family": "Hopper", "given": "Grace M."}],
        "issued": {"date-parts": [[1952, 5]]},
        "container-title": "Proceedings of the ACM",
        "DOI": "10.1145/609784.609818",
        "keyword": "compilers, history",
        "abstract": "A compiling routine makes programs.",
    }
]
FORMS = {"a.bib": BIB, "a.rdf": RDF, "better.json": json.dumps(BETTER), "csl.json": json.dumps(CSL)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "library"
    (place / "files" / "12").mkdir(parents=True)
    shutil.copy(SAMPLES / "language-merging.pdf", place / "files" / "12" / "language:merging.pdf")
    return place


def _read(folder: Path, name: str) -> tuple[list[LibraryItem], int]:
    (folder / name).write_text(FORMS[name], "utf-8")
    return read_library_file(folder / name, READABLE)


@pytest.mark.parametrize("name", FORMS)
def test_each_form_says_the_same(folder: Path, name: str) -> None:
    items, broken = _read(folder, name)
    one = items[0].record
    assert (one.title, one.year, one.venue) == ("The Education of a Computer", 1952, "Proceedings of the ACM")
    assert (one.doi, one.authors[0], one.tags) == ("10.1145/609784.609818", "Grace M. Hopper", ("compilers", "history"))
    assert one.abstract == "A compiling routine makes programs."
    assert "secret" not in repr(items)
    if name != "csl.json":
        assert one.shelves == ("Thesis/Methods",)
        assert [path.name for path in items[0].files] == ["language:merging.pdf"]
    if name == "a.bib":
        assert (items[0].outside, broken, items[1].record.arxiv_id) == (1, 1, "2001.01234")
        assert one.authors[1] == "Kurt Gödel"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.json", "{"),
        ("x.json", "[1]"),
        ("x.rdf", "<a/>"),
        ("x.rdf", "<!DOCTYPE a [<!ENTITY b 'c'>]><a/>"),
        ("x.ris", ""),
    ],
)
def test_what_is_no_library_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError):
        read_library_file(tmp_path / name, READABLE)


def test_a_bib_alone_makes_papers_that_citations_find(folder: Path, tmp_path: Path) -> None:
    """A reference of a paper in the same collection resolves to the work of the library."""
    data = DataFolder(tmp_path / "data")
    papers = data.papers / "lib"
    papers.mkdir(parents=True)
    (papers / "citing.md").write_text(
        "# On compilers\n\nAda Lovelace\n\nProgram makers were described early [1].\n\n## References\n\n"
        "[1] G. M. Hopper. The Education of a Computer. Proceedings of the ACM, 1952. doi:10.1145/609784.609818\n"
    )
    (folder / "refs.bib").write_text(BIB.replace("files/12", "nowhere"), "utf-8")
    library, index = import_library(data, "bibtex", folder / "refs.bib", "lib")
    assert (library.added, library.unreadable, index.papers.total) == (2, 1, 3)
    with closing(open_current(data.collection("lib"))) as snapshot:
        edges = snapshot.cursor().execute("SELECT citing_id, cited_id FROM citation_edges").fetchall()
    assert [(citing.rsplit("-", 1)[0], cited.rsplit("-", 1)[0]) for citing, cited in edges] == [
        ("citing", "hopper1952")
    ]


def test_a_library_beside_the_papers_adds_tags_by_match(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`scholarly.records` may name an exported library: its works are matched, and nothing of the others is kept."""
    data = tmp_path / "data"
    (folder / "a.md").write_text("# The Education of a Computer\n\nGrace Hopper\n\nIt was 1952. Compilers are good.\n")
    shutil.rmtree(folder / "files")
    data.mkdir()
    (data / "refs.json").write_text(json.dumps([*CSL, {"id": "other", "title": "Nothing of this"}], indent=1))
    (data / "monjyu.yaml").write_text("scholarly: {records: [refs.json]}")
    monkeypatch.setenv("MONJYU_DATA", str(data))
    world = World(data, folder)
    world.build()
    rows = world.tables()["scholarly_records"]
    assert [(row["source"], row["tags"]) for row in rows] == [("CSL", ["compilers", "history"])]


def test_the_file_with_the_text_is_the_paper_not_the_record(folder: Path, tmp_path: Path) -> None:
    """A record with a DOI, and a file of the same work that prints none: the one paper is the file."""
    text = "Compilers make programs of subroutines, as was shown at length. " * 80
    (folder / "full.md").write_text(f"# The Education of a Computer\n\nGrace Hopper\n\n## Introduction\n\n{text}\n")
    shutil.rmtree(folder / "files")
    record = {
        "id": "rec",
        "title": CSL[0]["title"],
        "authors": ["Grace Hopper"],
        "doi": CSL[0]["DOI"],
        "text": "Short.",
    }
    (folder / "records.jsonl").write_text(json.dumps(record))
    world = World(tmp_path / "data", folder)
    world.build()
    rows = {row["paper_id"]: row for row in world.tables()["paper_identity"]}
    assert rows["rec"]["canonical_id"].startswith("full-"), rows


def test_what_a_file_does_not_print_is_what_its_library_says(folder: Path, tmp_path: Path) -> None:
    """Marked by its origin; what the file prints stays, and so does what people correct. An edit of the library counts
    without parsing anything again."""
    (folder / "scan.txt").write_text("it begins in the middle of things and goes on. " * 30)
    (folder / "whole.md").write_text("# Printed Title\n\nAda Wilson\n\n## Introduction\n\nWords are here. " * 2)
    entry = "@article{%s, title={%s}, author={Wilson, Ada and 山田, 太郎}, year=1999, journal={Tides}, file={%s}}\n"
    bib = entry % ("a", "Of the Library", "scan.txt") + entry % ("b", "Of the Library Too", "whole.md")
    (folder / "refs.bib").write_text(bib)
    data = DataFolder(tmp_path / "data")

    def papers() -> dict[str, ParsedPaper]:
        import_library(data, "bibtex", folder / "refs.bib", "lib")
        with closing(open_current(data.collection("lib"))) as snapshot:
            ids = [one for (one,) in snapshot.cursor().execute("SELECT paper_id FROM papers").fetchall()]
            return {one.partition("-")[0]: show_paper(snapshot, one) for one in ids}

    found = papers()
    scan, whole = found["a"], found["b"]
    assert (scan.title, scan.publication_date, scan.venue) == ("Of the Library", "1999", "Tides")
    assert [author.name for author in scan.authors] == ["Ada Wilson", "山田 太郎"]
    assert {(one.field, one.by) for one in scan.corrected} == {
        (name, "library:BibTeX") for name in ("title", "authors", "publication_date", "venue")
    }
    assert whole.title == "Printed Title" and "title" not in {one.field for one in whole.corrected}
    seen = PaperIdentity("", "a.txt")
    correct(data.collection("lib"), load_settings(), scan.paper_id, "title", "By Hand", seen=seen, by="local")
    (folder / "refs.bib").write_text(bib.replace("Tides", "Waves"))
    again = papers()["a"]
    assert (again.title, again.venue) == ("By Hand", "Waves")


def test_two_entries_of_one_key_are_two_works(folder: Path, tmp_path: Path) -> None:
    (folder / "refs.bib").write_text("@misc{a, title={First}}\n@misc{b, title={Other}}\n@misc{a, title={Second}}\n")
    told: list[str] = []
    done = sync_library(DataFolder(tmp_path / "data"), "bibtex", folder / "refs.bib", "lib", say=told.append)
    assert done.added == 3 and any("more than once" in line and line.endswith(": a") for line in told)


def test_one_hostile_entry_costs_no_other(tmp_path: Path) -> None:
    deep = "{" * 20_000 + "x" + "}" * 20_000
    accents = "\\'" * 20_000 + "e"
    entries = [
        f"@misc{{k{n}, title = {{{text}}}, author = {{{text}}}}}" for n, text in enumerate((deep, accents, "$" * 5_000))
    ]
    name = "a" * 5_000 + ".pdf"
    (tmp_path / "lib.bib").write_text("\n".join([*entries, f"@misc{{good, title = {{Good}}, file = {{{name}}}}}"]))
    items, _ = ends(lambda: read_library_file(tmp_path / "lib.bib", READABLE))
    assert next(item for item in items if item.key == "good").outside == 1
    assert {item.key for item in items} >= {"k0", "k1", "k2"} and len(items[0].record.title) < 5


@pytest.mark.parametrize(
    "name, text",
    [
        ("many.bib", "@misc{k, title = {x}}\n" * 100_001),
        ("deep.json", "[" * 100_000),
        ("wide.json", "[" + "[]," * 10_000_001 + "[]]"),
    ],
)
def test_a_library_too_large_is_refused_before_it_is_parsed(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigurationError):
        ends(lambda: read_library_file(tmp_path / name, READABLE))


def test_texts_of_a_library_steer_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "lib.json").write_text(
        json.dumps([{"id": "a", "title": "Evil \u202etxt.exe \x1b[31mred", "type": "book"}])
    )
    ((item,), _) = read_library_file(tmp_path / "lib.json", READABLE)
    assert not has_controls(item.record.title) and "txt.exe" in item.record.title


CHAIN = 20_000
"""Shelves inside of each other."""
SHELVES = {str(n): {"name": f"shelf {n}", "parent": str(n - 1), "items": [n]} for n in range(CHAIN)}
LIBRARIES = {
    "shelves.json": json.dumps({"collections": SHELVES, "items": [
        {"itemType": "book", "itemKey": "a", "itemID": CHAIN - 1, "title": "A"}]}),
    "shelves.rdf": RDF[: RDF.index(">") + 1] + "".join(
        f'<z:Collection rdf:about="#{n}"><title>shelf {n}</title><dcterms:hasPart rdf:resource="#{n + 1}"/>'
        f'<dcterms:hasPart rdf:resource="#a"/></z:Collection>' for n in range(CHAIN)
    ) + '<bib:Book rdf:about="#a"><title>A</title></bib:Book></rdf:RDF>',
    "journal.rdf": RDF[: RDF.index(">") + 1] + "".join(
        f'<bib:Book rdf:about="#a{n}"><title>A</title><isPartOf rdf:resource="#j"/></bib:Book>' for n in range(4_000)
    ) + f'<bib:Journal rdf:about="#j"><title>{"j" * 100_000}</title>{"<description>d</description>" * 20_000}'
    "</bib:Journal></rdf:RDF>",
    "title.json": json.dumps([{"id": "a", "title": "A" + "<i" * 1_000_000}]),
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_is_read_in_proportion_to_its_size(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(LIBRARIES[name])
    items, _ = ends(lambda: read_library_file(tmp_path / name, READABLE))
    assert items[0].record.title.startswith("A")
    if name.startswith("shelves"):
        assert all(len(shelf) <= 500 for shelf in items[0].record.shelves) and items[0].record.shelves
