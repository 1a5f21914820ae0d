"""The citation network as GraphML; papers and their references as BibTeX, RIS or CSL JSON."""

import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count, product
from typing import Any

from monjyu_core.storage.snapshot import Snapshot
from monjyu_query.answers.render import safe
from monjyu_query.asking.fields import ExportForm
from monjyu_query.citations.view import canonical_id

# Readable keys of bibliographic entries: `smith2021noun`.
# Japanese in Latin letters, as far as keys need it: kana by table, ideographs by their readings (extra `ja`).
_ROWS = {
    "": "アイウエオ", "k": "カキクケコ", "g": "ガギグゲゴ", "s": "サシスセソ", "z": "ザジズゼゾ",
    "t": "タチツテト", "d": "ダヂヅデド", "n": "ナニヌネノ", "h": "ハヒフヘホ", "b": "バビブベボ",
    "p": "パピプペポ", "m": "マミムメモ", "r": "ラリルレロ",
}  # fmt: skip
_IRREGULAR = {
    "シ": "shi", "ジ": "ji", "チ": "chi", "ヂ": "ji", "ツ": "tsu", "ヅ": "zu", "フ": "fu", "ヤ": "ya", "ユ": "yu",
    "ヨ": "yo", "ワ": "wa", "ヲ": "o", "ン": "n", "ヴ": "vu", "ー": "", "ヱ": "e", "ヰ": "i",
}  # fmt: skip
_SMALL = dict(zip("ァィゥェォャュョ", ("a", "i", "u", "e", "o", "ya", "yu", "yo"), strict=True))
_KANA = {kana: head + vowel for head, row in _ROWS.items() for kana, vowel in zip(row, "aiueo", strict=True)}
_KANA |= _IRREGULAR
_PAIRS = {
    large + small: head[:-1] + (sound[1:] if head[:-1] in ("sh", "ch", "j") and len(sound) > 1 else sound)
    for (large, head), (small, sound) in product(_KANA.items(), _SMALL.items())
    if head and (head[-1] == "i" or sound in "aiueo")
}
_VARIANTS = str.maketrans("髙﨑", "高崎")
"""Forms of ideographs in names that dictionaries lack."""
_HIRAGANA = {code: code + 0x60 for code in range(0x3041, 0x3097)}
_JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")


def is_japanese(text: str) -> bool:
    """Whether the text contains kana or ideographs."""
    return _JAPANESE.search(text) is not None


def romaji(text: str) -> str:
    """Kana in Hepburn romanisation without macrons (ガクシュウ: gakushuu); other characters stay."""
    kana = unicodedata.normalize("NFKC", text).translate(_HIRAGANA)
    kana = re.sub("|".join(sorted(_PAIRS, key=len, reverse=True)), lambda match: _PAIRS[match.group()], kana)
    sound = "".join(_KANA.get(character, _SMALL.get(character, character)) for character in kana)
    return re.sub(r"ッ([a-z])", r"\1\1", sound).replace("ッ", "")


def family_name(name: str) -> str:
    """The reading of the first word of a Japanese name, the family name; empty if it is unknown."""
    first = name.split()[0]
    words = readings(first) or [("", romaji(first))]
    sound = next((sound for kind, sound in words if kind == "姓"), words[0][1])
    return "" if is_japanese(sound) else sound


def readings(text: str) -> list[tuple[str, str]]:
    """(kind, reading in Latin letters) of each noun and name; empty without the extra `ja`."""
    tokenizer = _tokenizer()
    if tokenizer is None:
        return []
    return [
        (word.part_of_speech()[3], romaji(word.reading_form()))
        for word in tokenizer.tokenize(text.translate(_VARIANTS))
        if word.part_of_speech()[0] == "名詞"
    ]


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        from sudachipy import Dictionary

        return Dictionary(dict="small").tokenizer()
    except (ImportError, OSError, ValueError):  # without the extra, or without its dictionary
        return None


_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)
"""Letters that do not decompose into an ASCII letter and an accent."""
_SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at by can do does for from how in into is it its of on or our over that the their this to "
        "toward towards under using via we what when where which who why will with without "
        "der die das ein eine le la les un une el los las il",
    )
)
_SUFFIXES = frozenset(("jr", "sr", "ii", "iii", "iv"))
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?){1,4}|[^\W\d_]|[A-Z]{2,3}")
_LONGEST = 40


def citation_key(author: str, year: int | None, title: str, otherwise: str) -> str:
    """The first author's family name, year and first content word of the title, in ASCII letters and digits.

    Without an author the title's next word replaces the name. `otherwise` (an id) is used if neither author nor title
    can be written in ASCII.
    """
    name, words = _family(author), _title_words(title)
    parts = [name, next(words, "")] if name else [next(words, ""), next(words, "")]
    first, last = (part[:_LONGEST] for part in parts)
    if not first and not last:
        return re.sub(r"[^a-z0-9]", "", fold(otherwise)) or "work"
    return f"{first}{year or ''}{last}"


def distinct(keys: Iterable[str]) -> list[str]:
    """The keys in order; a repeated key gets a, b, ... at its end."""
    taken: set[str] = set()
    found = []
    for key in keys:
        free = next(one for one in _with_letters(key) if one not in taken)
        taken.add(free)
        found.append(free)
    return found


def _with_letters(key: str) -> Iterator[str]:
    yield key
    for number in count():
        tail, rest = "", number
        while rest >= 0:
            tail, rest = chr(ord("a") + rest % 26) + tail, rest // 26 - 1
        yield key + tail


def fold(text: str) -> str:
    """Lower case without accents; characters without an ASCII form are dropped."""
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
    return decomposed.encode("ascii", "ignore").decode()


def _family(author: str) -> str:
    author = re.sub(r"\bet\.? al\b\.?", "", " ".join(author.split())).strip()
    if is_japanese(author):
        return _only_letters(family_name(author))
    if "," in author:
        return _only_letters(author.partition(",")[0])
    words = [word for word in author.split() if word.strip(".").lower() not in _SUFFIXES]
    full = [word for word in words if not _INITIALS.fullmatch(word)]
    return _only_letters((full or words or [""])[-1])


def _title_words(title: str) -> Iterator[str]:
    """The content words, folded; of a Japanese title the readings of its nouns, if they are known. A title without
    content words yields all its words."""
    words = [_only_letters(word) for word in re.findall(r"[^\W_]+(?:['\u2019][^\W_]+)*", title)]
    said = [word for word in words if len(word) > 2 and word not in _SMALL_WORDS]
    if is_japanese(title):
        said = [word for word in (_only_letters(said) for _, said in readings(title)) if len(word) > 1] or said
    yield from said or [word for word in words if word]


def _only_letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", fold(text))


# Characters that XML 1.0 does not allow even if they are escaped, such as control characters in papers.
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str | None) -> str:
    """The text with a space instead of each character that XML does not allow."""
    return _NOT_XML.sub(" ", text or "")


_PAPERS = """
SELECT p.paper_id, p.title, list(a.name ORDER BY a.ord) FILTER (a.name IS NOT NULL), p.year, p.venue, p.doi, p.arxiv_id
FROM papers p JOIN paper_identity i ON i.paper_id = p.paper_id AND i.canonical_id = p.paper_id
LEFT JOIN authors a ON a.paper_id = p.paper_id GROUP BY ALL ORDER BY p.paper_id
"""
_REFERENCES = """
SELECT ref_id, coalesce(title, raw_text), authors, year, venue, doi, arxiv_id
FROM "references" WHERE paper_id = ? ORDER BY ord
"""


@dataclass(frozen=True)
class Entry:
    """A bibliographic entry: a paper of the collection, or a reference of one. `id` is the id of either."""

    id: str
    title: str
    authors: list[str]
    year: int | None
    venue: str | None
    doi: str | None
    arxiv_id: str | None


def graphml(snapshot: Snapshot) -> str:
    """The citation network as GraphML: nodes with title, year, doi; edges with method, score, mentions."""
    import networkx

    graph = networkx.DiGraph()
    cursor = snapshot.cursor()
    for paper_id, title, _, year, _, doi, _ in cursor.execute(_PAPERS).fetchall():
        values = {"title": xml_text(title), "year": year, "doi": doi and xml_text(doi)}
        graph.add_node(xml_text(paper_id), **{name: value for name, value in values.items() if value is not None})
    edges = "SELECT citing_id, cited_id, method, score, len(contexts) FROM citation_edges ORDER BY ALL"
    for citing, cited, method, score, mentions in cursor.execute(edges).fetchall():
        graph.add_edge(xml_text(citing), xml_text(cited), method=method, score=float(score), mentions=mentions)
    buffer = io.BytesIO()
    networkx.write_graphml(graph, buffer)
    return buffer.getvalue().decode("utf-8")


def entries(snapshot: Snapshot, paper_id: str | None) -> list[Entry]:
    """The references of a paper or, without one, the papers of the collection."""
    cursor = snapshot.cursor()
    if paper_id is None:
        rows = cursor.execute(_PAPERS).fetchall()
    else:
        canonical_id(cursor, paper_id)  # raises a clear error for an unknown paper
        rows = cursor.execute(_REFERENCES, [paper_id]).fetchall()
    before = "ref" if paper_id else ""
    return [entry_of(f"{before}{row[0]}", *row[1:]) for row in rows]


def entries_of(snapshot: Snapshot, paper_ids: Iterable[str]) -> list[Entry]:
    """The entries of the papers, in order, without duplicates. Raises QueryError for an unknown paper."""
    wanted = list(dict.fromkeys(canonical_id(snapshot.cursor(), paper_id) for paper_id in paper_ids))
    known = {entry.id: entry for entry in entries(snapshot, None)}
    return [known[paper_id] for paper_id in wanted]


def entry_of(
    name: str,
    title: str | None,
    authors: list[str] | None,
    year: int | None,
    venue: str | None,
    doi: str | None,
    arxiv_id: str | None,
) -> Entry:
    """An entry with each field on one line, so that no text of a paper can start another field."""
    names = [shown for shown in map(safe, authors or []) if shown]
    return Entry(
        str(name), safe(title or ""), names, year, *(safe(text) if text else None for text in (venue, doi, arxiv_id))
    )


def _keys(found: list[Entry]) -> list[str]:
    return distinct(citation_key("".join(one.authors[:1]), one.year, one.title, one.id) for one in found)


def bibtex(found: list[Entry]) -> str:
    """BibTeX with LaTeX commands for letters that have one; other letters, such as Japanese ones, remain UTF-8."""
    from bibtexparser.entrypoint import write_string
    from bibtexparser.library import Library
    from bibtexparser.middlewares import LatexEncodingMiddleware
    from bibtexparser.model import Entry as BibEntry
    from bibtexparser.model import Field
    from pylatexenc.latexencode import RULE_REGEX, UnicodeToLatexConversionRule, UnicodeToLatexEncoder

    library = Library()
    for key, entry in zip(_keys(found), found, strict=True):
        fields = {
            "title": entry.title,
            "author": " and ".join(entry.authors),
            "year": str(entry.year or ""),
            "journal": entry.venue or "",
            "doi": entry.doi or "",
            "eprint": entry.arxiv_id or "",
            "archiveprefix": "arXiv" if entry.arxiv_id else "",
        }
        kept = [Field(name, value) for name, value in fields.items() if value]
        library.add(BibEntry("article" if entry.venue else "misc", key, kept))
    math = UnicodeToLatexConversionRule(RULE_REGEX, [(re.compile(r"(?<!\\)(\$.*[^\\]\$)"), r"\1")])
    encoder = UnicodeToLatexEncoder(conversion_rules=[math, "defaults"], unknown_char_warning=False)
    return write_string(library, prepend_middleware=[LatexEncodingMiddleware(encoder=encoder)])


def ris(found: list[Entry]) -> str:
    import rispy
    from rispy.writer import RisWriter

    class Writer(RisWriter):  # type: ignore[misc]
        """Writes RIS without the numbers that rispy puts between records, because the format has none."""

        def set_header(self, count: int) -> str:
            return ""

    records = [
        {
            "type_of_reference": "JOUR" if entry.venue else "GEN",
            "title": entry.title,
            "authors": entry.authors,
            "year": str(entry.year) if entry.year else None,
            "journal_name": entry.venue,
            "doi": entry.doi,
            "urls": [f"https://arxiv.org/abs/{entry.arxiv_id}"] if entry.arxiv_id else None,
        }
        for entry in found
    ]
    text: str = rispy.dumps(
        [{name: value for name, value in record.items() if value} for record in records], implementation=Writer
    )
    return text


def csl(found: list[Entry]) -> str:
    """CSL JSON, as Zotero, pandoc and citeproc read it. Names are split at their comma or last space."""
    items = [
        {
            "id": key,
            "type": "article-journal" if entry.venue else "article",
            "title": entry.title,
            "author": [_csl_name(name) for name in entry.authors],
            "issued": {"date-parts": [[entry.year]]} if entry.year else None,
            "container-title": entry.venue,
            "DOI": entry.doi,
            "number": f"arXiv:{entry.arxiv_id}" if entry.arxiv_id else None,
        }
        for key, entry in zip(_keys(found), found, strict=True)
    ]
    kept = [{name: value for name, value in item.items() if value} for item in items]
    return json.dumps(kept, ensure_ascii=False, indent=1) + "\n"


def _csl_name(name: str) -> dict[str, str]:
    family, comma, given = name.partition(",")
    if not comma:
        given, _, family = name.rpartition(" ")
    return {"family": family.strip(), "given": given.strip()} if given.strip() else {"literal": name.strip()}


def _form(text: Callable[[list[Entry]], str], kind: str, ending: str, label: str) -> ExportForm:
    return ExportForm(lambda found: text(found).encode("utf-8", "replace"), f"{kind}; charset=utf-8", ending, label)


FORMS = {
    "bibtex": _form(bibtex, "application/x-bibtex", "bib", "BibTeX"),
    "ris": _form(ris, "application/x-research-info-systems", "ris", "RIS"),
    "csl": _form(csl, "application/vnd.citationstyles.csl+json", "json", "CSL JSON"),
}
