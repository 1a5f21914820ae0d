"""Turns sections into chunks within the limits, for every strategy. A chunk is always inside one section.

A chunk and its header must fit the embedding model's window together, or the end would be lost silently. So two limits
apply: one on the text in cl100k_base tokens, and one on header and text in the model's own word pieces.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from monjyu_assets.chunking.strategies import Count, Grouping, Limits, Measure, Piece, SectionText, by_size
from monjyu_assets.parsing.text.heading_types import strip_numbering
from monjyu_core.language.packs import cues
from monjyu_core.storage.ids import digest

NOT_RETRIEVED = ("references", "acknowledgments")
"""The types of sections that have no chunks."""


@dataclass(frozen=True)
class ChunkSizes:
    """The limits of a chunk. `size` and `overlap` (with the previous chunk) are in cl100k_base tokens. `window` is the
    embedding model's limit in word pieces. `sentences` is the limit of the strategy that counts sentences. Chunks with
    fewer than `least` tokens join a neighbour."""

    size: int
    overlap: int
    window: int
    sentences: int = 1
    least: int = 0


@dataclass(frozen=True)
class Chunk:
    """A chunk. `text` is `section_text[start:end]`; the offsets of its sentences are also relative to the section."""

    chunk_id: str
    start: int
    end: int
    text: str
    header: str
    input_hash: str
    tokens: int
    pieces: int
    sentences: tuple[Piece, ...]


def header_for(title: str, heading: str, count_pieces: Count, most: int) -> str:
    """The header `title > heading`, cut to `most` word pieces. A heading equal to the title is left out."""
    title, heading = " ".join(title.split()), " ".join(heading.split())
    header = f"{title} > {heading}" if title and heading and heading != title else title or heading
    words = header.split(" ")
    while len(words) > 1 and count_pieces([" ".join(words)])[0] > most:
        words = words[: max(1, len(words) * 3 // 4)]
    return " ".join(words)


def input_text(header: str, text: str) -> str:
    """The text of a chunk that is embedded: its header and its text."""
    return f"{header}\n{text}" if header else text


def chunk_section(
    paper_id: str, section: SectionText, sizes: ChunkSizes, measure: Measure, group: Grouping = by_size
) -> list[Chunk]:
    """The chunks of one section, in order. Their ids may repeat within the paper; `unique_ids` makes them unique."""
    room = sizes.window - measure.word_pieces([input_text(section.header, "")])[0]
    groups, inputs, lengths = _groups_within(section, sizes, measure, group, room)
    bodies = [section.text[pieces[0].start : pieces[-1].end] for pieces in groups]
    counts = zip(measure.tokens(bodies), lengths, strict=True)
    return [
        Chunk(
            chunk_id=digest(paper_id, section.header, body, length=20),
            start=pieces[0].start,
            end=pieces[-1].end,
            text=body,
            header=section.header,
            input_hash=digest(whole, length=32),
            tokens=body_tokens,
            pieces=whole_pieces,
            sentences=tuple(pieces),
        )
        for pieces, body, whole, (body_tokens, whole_pieces) in zip(groups, bodies, inputs, counts, strict=True)
    ]


def _groups_within(
    section: SectionText, sizes: ChunkSizes, measure: Measure, group: Grouping, room: int
) -> tuple[list[list[Piece]], list[str], list[int]]:
    """The pieces of each chunk, its input text, and the input's length in word pieces.

    A text may have a word piece or two more than the sum of its sentences, because word pieces can span sentences
    without a space between them. If a chunk then does not fit, the section is grouped again with less room.
    """
    groups = group(section, Limits(sizes.size, sizes.overlap, room, sizes.sentences, sizes.least), measure)
    inputs = [input_text(section.header, section.text[pieces[0].start : pieces[-1].end]) for pieces in groups]
    lengths = [int(length) for length in measure.word_pieces(inputs)]
    excess = max(lengths, default=0) - sizes.window
    if excess > 0 and room > excess:
        return _groups_within(section, sizes, measure, group, room - excess)
    return groups, inputs, lengths


def unique_ids(chunks: Sequence[Chunk]) -> list[str]:
    """The ids of a paper's chunks. Chunks with the same text and header get different ids."""
    seen: Counter[str] = Counter()
    ids = []
    for chunk in chunks:
        seen[chunk.chunk_id] += 1
        occurrence = seen[chunk.chunk_id]
        ids.append(chunk.chunk_id if occurrence == 1 else digest(chunk.chunk_id, occurrence, length=20))
    return ids


# Boilerplate sections, which journals require but nobody asks about: competing interests, funding, contributions,
# licences. They are stored and can be read, but they are not chunked, so that "None." never becomes an answer.
_LONGEST = 2000
_BRIEF = 300
"""The number of characters above which a section headed "Ethics" or "Data availability" is about the study."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


_STATEMENT = r"(?: (?:statements?|declarations?|disclosures?|information|notes?))?"
_THINGS = r"(?:data|datasets?|codes?|materials?|software)"
_SEVERAL = rf"{_THINGS}(?:(?:,| and| &)+ {_THINGS})*"

_ALWAYS = _any(
    r"(?:(?:declarations?|statements?|disclosures?) of )?(?:potential |financial )?"
    rf"(?:conflicts? of|conflicting|competing|declarations? of) (?:financial )?interests?{_STATEMENT}",
    rf"funding(?: sources?| support)?{_STATEMENT}",
    r"sources? of (?:funding|support)|role of the fund(?:er|ing source)s?",
    rf"(?:credit )?author(?:s|['’]s|s['’]|ship)?(?: and)? contributions?{_STATEMENT}",
    r"contributions? (?:of (?:the )?authors?|to the (?:article|course|manuscript|paper))",
    r"credit(?: author(?:ship)?)? (?:contributions?|statement)",
    r"consent (?:for publication|to publish)|publisher['’]s note",
    r"pre-?publication history|provenance and peer review",
    cues("chunk.always"),
    cues("chunk.always_inside"),
)
"""Headings of sections that are boilerplate up to `_LONGEST` characters."""

_IF_BRIEF = _any(
    rf"{_SEVERAL} (?:availability|accessibility|sharing|access){_STATEMENT}",
    rf"availability of (?:supporting )?{_SEVERAL}{_STATEMENT}",
    r"(?:research )?(?:ethics?|ethical)(?: (?:approval|clearance|compliance|considerations?|standards))?"
    rf"(?: and consent to participate)?{_STATEMENT}",
    rf"compliance with ethical standards|institutional review board{_STATEMENT}",
    rf"(?:informed )?consent{_STATEMENT}|human (?:and animal )?rights{_STATEMENT}",
    r"(?:financial |author )?disclosures?(?: statements?)?|declarations?",
    r"open access|copyright(?: and licen[cs]e)?|licen[cs]e|rights and permissions",
    cues("chunk.if_brief"),
    cues("chunk.if_brief_inside"),
)
"""Headings of sections that are boilerplate up to `_BRIEF` characters."""

_NOTHING = _any(
    r"none|nil|n/?a|not applicable|declared none|no (?:competing|conflicts?|potential)[^.]{0,80}",
    r"(?:none|nothing) (?:was |were |to be |to )?(?:declared?|disclosed?|reported?)",
    r"the authors?(?:\(s\))? (?:confirm|declare|have declared|report|state)[^.]{0,60} no "
    r"(?:known |potential |financial )*(?:competing|conflicts?)[^.]{0,120}",
    cues("chunk.nothing"),
)
"""Texts, in lower case, that state that there is nothing to report, under any heading."""


def is_boilerplate(heading: str, text: str) -> bool:
    """Whether a section is boilerplate: short under one of the headings above, or a statement of nothing to report."""
    body = text.strip(" .。\n")
    if _NOTHING.fullmatch(body[:_BRIEF].casefold()) and len(body) <= _BRIEF:
        return True
    words = " ".join(strip_numbering(heading)[1].casefold().split()).strip(" .:;：")
    length = len(body)
    return bool((length <= _LONGEST and _ALWAYS.fullmatch(words)) or (length <= _BRIEF and _IF_BRIEF.fullmatch(words)))
