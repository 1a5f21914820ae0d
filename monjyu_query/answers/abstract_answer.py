"""Answers a general question about one paper ("What does this course teach?") from its abstract and headings."""

import re

from monjyu_core.language.packs import Texts, also, cues
from monjyu_query.answers.answer import Answer
from monjyu_query.answers.citing import Window, cite_windows
from monjyu_query.answers.layout import said
from monjyu_query.answers.segments import asked_types, laid_out
from monjyu_query.answers.selection import is_statement
from monjyu_query.asking.passages import PassageSentence, load_passages, load_sentences
from monjyu_query.asking.result import Segment
from monjyu_query.asking.topic import topic_of
from monjyu_query.papers.labels import paper_labels
from monjyu_query.papers.names import paper_in_question
from monjyu_query.ranking.open_index import OpenIndex

_GENERAL = re.compile(cues("abstract_answer.general"), re.IGNORECASE)
_MOST, _WIDTH = 4, 700
_MOST_DEFINED, _WIDTH_DEFINED = 2, 450
"""The maximum numbers of sentences and characters in an answer, and in one that defines something."""
_LIST_WIDTH = 1000
"""Characters of an answer with a list that its sentences announce."""
_ANNOUNCES = re.compile(r"[:：]\s*$")
_ITEM = re.compile(r"^\s*(?:[•·▪◦*–-]|\(?(?:[ivx]{1,4}|[a-z]|\d{1,2})[.)])\s?\S")
_FEWEST_HEADINGS, _MOST_HEADINGS = 3, 8
_OPENING = 60
"""A sentence is about a name that begins within this number of its first characters."""
_SPACES = re.compile(r"[\W_]+")
_OPEN_TYPES = frozenset({"definition", "procedure"})
_OF_OTHERS = re.compile(r"\b(?:papers|articles|studies|publications|others?|cit(?:e|es|ed|ing))\b", re.IGNORECASE)
_ASKS_WHAT = re.compile(
    r"^\W*(?:what|describe|explain|tell|how|introduce|define)\b" + also("abstract_answer.asks_what"), re.IGNORECASE
)
_PLAIN_HEADING = re.compile(
    r"(?:\d+[. ]*)*(?:abstract|summary|introduction|references|acknowledge?ments?|conclusions?|funding"
    + also("abstract_answer.plain_heading")
    + r")\W*$",
    re.IGNORECASE,
)
_CHUNKS = """SELECT chunk_id FROM chunks WHERE paper_id = ? AND section_type NOT IN ('references', 'acknowledgments')
ORDER BY section_type <> 'abstract', ord LIMIT 2"""
_HEADINGS = "SELECT heading FROM sections WHERE paper_id = ? ORDER BY section_ord"


def is_general(query: str) -> bool:
    """Whether the question names only what every paper has: an aim, an audience, something that it teaches."""
    return not topic_of(_GENERAL.sub(" ", query))


def answer_of_named(index: OpenIndex, query: str, language: str) -> Answer | None:
    """The first statements about a paper, for a question that names it and asks nothing more specific ("What does
    nbgrader do?"); None for other questions, and if the paper's beginning does not mention the name."""
    if not _ASKS_WHAT.search(query):
        return None
    named = paper_in_question(index, query)
    if named is None or not asked_types(query) <= _OPEN_TYPES or _OF_OTHERS.search(named.rest):
        return None
    if not is_general(named.rest):
        return None
    return abstract_answer(index, named.paper_id, language, named.name, brief="definition" in asked_types(query))


def abstract_answer(
    index: OpenIndex, paper_id: str, language: str, name: str = "", *, brief: bool = False
) -> Answer | None:
    """The first sentences of the paper's abstract, or of its text if it has none, followed by up to eight headings
    unless `brief`. With a `name`, the answer starts at the first sentence that has the name among its first words.
    None if there is no such sentence."""
    cursor = index.snapshot.cursor()
    chunks = [name for (name,) in cursor.execute(_CHUNKS, [paper_id]).fetchall()]
    sentences = load_sentences(cursor, load_passages(cursor, chunks))
    run = _first(sentences, name, *((_MOST_DEFINED, _WIDTH_DEFINED) if brief else (_MOST, _WIDTH)))
    cited = cite_windows(cursor, [Window(tuple(run), (run[0],))]) if run else []
    if not cited:
        return None
    window, citation = cited[0]
    label = paper_labels(index, [paper_id], language)[paper_id]
    segments = laid_out([(said(window), [1], label)], None)
    if brief:
        return Answer(segments, "complete", [citation], verified=True)
    headings = [heading for (heading,) in cursor.execute(_HEADINGS, [paper_id]).fetchall() if heading.strip()]
    telling = list(dict.fromkeys(h.rstrip(" :.;") for h in headings if not _PLAIN_HEADING.match(h)))[:_MOST_HEADINGS]
    if len(telling) >= _FEWEST_HEADINGS:
        words = Texts("answer")[language]
        segments.append(Segment(text=words["sections"].format(words["between_sections"].join(telling))))
    return Answer(segments, "complete", [citation], verified=True)


def _first(sentences: list[PassageSentence], name: str, most: int, widest: int) -> list[PassageSentence]:
    """The first consecutive statements of one section, with a list that one of them announces. The first one mentions
    the name near its beginning."""
    run: list[PassageSentence] = []
    wanted = _SPACES.sub("", name).casefold()
    listing = False
    for sentence in sorted(sentences, key=lambda s: (s.section_ord, s.place)):
        if run and (sentence.section_ord, sentence.place) != (run[-1].section_ord, run[-1].place + 1):
            break
        item = listing and bool(_ITEM.match(sentence.text))
        announces = bool(run) and bool(_ANNOUNCES.search(sentence.text))
        if not (item or announces or (is_statement(sentence.text) and not listing)):
            if run:
                break
            continue
        if not run and wanted and wanted not in _SPACES.sub("", sentence.text[: _OPENING + len(name)]).casefold():
            continue
        if run and not listing and sum(len(s.text) for s in (*run, sentence)) > widest:
            break
        run.append(sentence)
        listing = listing or announces
        width = sum(len(s.text) for s in run)
        if width > _LIST_WIDTH or (not listing and len(run) == most):
            break
    return run[:-1] if len(run) > 1 and listing and _ANNOUNCES.search(run[-1].text) else run
