"""Papers typeset for the tests, in the looks of conferences and journals, with what stands in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import typst

TITLE = "Deferred Construction of Concept Graphs for Scholarly Question Answering"
AUTHORS = ["Alice Example", "Bob van der Berg", "Chen Wei"]
ABSTRACT = (
    "We present a method for answering questions over collections of papers without building a full graph first. "
    "The method defers extraction until a question arrives and keeps what it has learned. "
    "Experiments show that it is cheaper by an order of magnitude and loses little quality."
)
_BODY = """
Retrieval over scholarly text has a long history CITE1. Systems that maintain a graph of concepts can answer broad
questions, but they cost a lot to build CITE2. We study a cheaper way that defers most of the work to the time of the
query CITE3. The just-in-time approach is simple and robust in practice, and its extraction of concepts is lazy.

A second paragraph explains the structure of this paper in some detail so that the column has enough text to look like
a real article. We describe the background first, then the method, and finally the experiments and their limits CITE4.
"""
_NUMBERED = {"1": "[1]", "2": "[2, 3]", "3": "[1--3]", "4": "[5]"}
_NAMED = {
    "1": "(Smith et al., 2019)",
    "2": "(Müller and O'Connor, 2020; Tanaka, 2015)",
    "3": "as shown by Lee et al. (2021)",
    "4": "(García-López et al., 2022)",
}
_SECTIONS = [
    (1, "Introduction"), (1, "Related Work"), (2, "Graph Retrieval"), (2, "Provenance"), (1, "Method"),
    (1, "Experiments"), (1, "Conclusion"),
]  # fmt: skip
REFERENCES = [
    ("Graph-based retrieval for scholarly search", ["Smith", "Jones", "Miller"], 2019),
    ("Provenance in dataflow systems", ["Müller", "O’Connor"], 2020),
    ("Foundations of Indexing", ["Tanaka"], 2015),
    ("Incremental maintenance of community structure", ["Lee", "Park", "Kim"], 2021),
    ("Lazy evaluation of graph summaries", ["García-López", "Roe", "Poe"], 2022),
]


@dataclass(frozen=True)
class Sample:
    """A typeset paper: its file, the headings with levels as printed, citations a section."""

    path: Path
    headings: list[tuple[int, str]]
    citations: int


def _body(marks: dict[str, str]) -> str:
    text = _BODY
    for key, mark in marks.items():
        text = text.replace(f"CITE{key}", mark)
    return text


def _compile(folder: Path, name: str, source: str) -> Path:
    path = folder / f"{name}.typ"
    path.write_text(source, "utf-8")
    typst.compile(str(path), output=str(folder / f"{name}.pdf"))
    return folder / f"{name}.pdf"


def two_columns_numbered(folder: Path) -> Sample:
    """Two columns, Roman headings in small capitals, references in brackets and smaller type, an affiliation grid."""
    numbers = ["I. ", "II. ", "A. ", "B. ", "III. ", "IV. ", "V. "]
    headings = [(level, number + text) for number, (level, text) in zip(numbers, _SECTIONS, strict=True)]
    parts = [f"#h{level}[{text}]\n{_body(_NUMBERED)}" for level, text in headings]
    parts[4] += "#figure(rect(width: 80%, height: 60pt), caption: [An overview of the method.])\n" + _body(_NUMBERED)
    source = f"""
#set page(paper: "us-letter", margin: (x: 0.65in, y: 0.8in), columns: 2, numbering: "1")
#set text(font: "Libertinus Serif", size: 10pt)
#set par(justify: true, first-line-indent: 1em, leading: 0.5em, spacing: 0.5em)
#set columns(gutter: 0.25in)
#let h1(t) = align(center, block(above: 1.2em, below: 0.8em, smallcaps(t)))
#let h2(t) = block(above: 1em, below: 0.7em, emph(t))
#place(top + center, scope: "parent", float: true, clearance: 20pt)[
 #text(size: 24pt)[{TITLE}] \\ #v(8pt)
 #grid(columns: (1fr, 1fr, 1fr),
  [{AUTHORS[0]} \\ _Dept. of Computer Science_ \\ _Example University_ \\ Boston, USA],
  [{AUTHORS[1]} \\ _Data Lab_ \\ _Institute of Tests_ \\ Delft, Netherlands],
  [{AUTHORS[2]} \\ _School of Informatics_ \\ _Sample College_ \\ Beijing, China])
]
#text(weight: "bold", size: 9pt)[_Abstract_---{ABSTRACT}]

#text(weight: "bold", size: 9pt)[_Index Terms_---retrieval, graphs, provenance]

{"".join(parts)}
#h1[References]
#set par(first-line-indent: 0pt, hanging-indent: 1.8em)
#set text(size: 8pt)
\\[1\\] J. Smith, A. B. Jones, and C. Miller, "Graph-based retrieval for scholarly search," _IEEE Trans. Knowl. Data
Eng._, vol. 12, no. 3, pp. 45--67, 2019.

\\[2\\] L. Müller and P. O'Connor, "Provenance in dataflow systems," in _Proc. VLDB_, 2020, pp. 1--12.

\\[3\\] K. Tanaka, _Foundations of Indexing_. Springer, 2015.

\\[4\\] D. Lee, E. Park, and F. Kim, "Incremental maintenance of community structure," _J. Netw. Sci._, vol. 4,
pp. 99--120, 2021, doi: 10.1234/jns.2021.99.

\\[5\\] M. García-López, J. Roe, and T. Poe, "Lazy evaluation of graph summaries," arXiv:2101.01234, 2022.
"""
    return Sample(_compile(folder, "numbered", source), headings, 7)


def two_columns_named(folder: Path) -> Sample:
    """Two columns, bold numbered headings, authors with raised marks, author-year references without labels."""
    numbers = ["1 ", "2 ", "2.1 ", "2.2 ", "3 ", "4 ", "5 "]
    headings = [(level, number + text) for number, (level, text) in zip(numbers, _SECTIONS, strict=True)]
    parts = [f"{'=' * level} {text}\n{_body(_NAMED)}" for level, text in _SECTIONS]
    source = f"""
#set page(paper: "a4", margin: 2.5cm, columns: 2, numbering: "1")
#set text(font: "Libertinus Serif", size: 11pt)
#set par(justify: true, first-line-indent: 1em, leading: 0.5em, spacing: 0.5em)
#set columns(gutter: 0.6cm)
#set heading(numbering: "1.1")
#show heading: it => block(above: 1.2em, below: 0.7em,
  text(size: if it.level == 1 {{12pt}} else {{11pt}}, [#counter(heading).display() #h(0.6em) #it.body]))
#place(top + center, scope: "parent", float: true, clearance: 20pt)[
 #text(size: 15pt, weight: "bold")[{TITLE}] \\ #v(8pt)
 #text(size: 12pt, weight: "bold")[{AUTHORS[0]}#super[1] #h(1.2em) {AUTHORS[1]}#super[2] #h(1.2em)
 {AUTHORS[2]}#super[1,2]] \\ #super[1]Example University #h(1em) #super[2]Institute of Tests
]
#align(center, text(weight: "bold", size: 12pt)[Abstract])
#pad(x: 0.6cm, text(size: 10pt)[{ABSTRACT}])
{"".join(parts)}
#block(above: 1.2em, below: 0.7em, text(size: 12pt, weight: "bold")[References])
#set par(first-line-indent: 0pt, hanging-indent: 1em, spacing: 0.8em)
#set text(size: 10pt)

Mario García-López, Jane Roe, and Tim Poe. 2022. Lazy evaluation of graph summaries. arXiv preprint arXiv:2101.01234.

Dana Lee, Eun Park, and Faye Kim. 2021. Incremental maintenance of community structure. _Journal of Network Science_,
4:99--120.

Lena Müller and Pat O'Connor. 2020. Provenance in dataflow systems. In _Proceedings of the VLDB Endowment_, pages
1--12, Tokyo, Japan. Association for Computing Machinery.

Jack Smith, Ann B. Jones, and Carl Miller. 2019. Graph-based retrieval for scholarly search. _IEEE Transactions on
Knowledge and Data Engineering_, 12(3):45--67.

Ken Tanaka. 2015. _Foundations of Indexing_. Springer.
"""
    return Sample(_compile(folder, "named", source), headings, 5)


def one_column(folder: Path) -> Sample:
    """One column, bold and italic numbered headings, running heads, comma-style references."""
    numbers = ["1. ", "2. ", "2.1. ", "2.2. ", "3. ", "4. ", "5. "]
    headings = [(level, number + text) for number, (level, text) in zip(numbers, _SECTIONS, strict=True)]
    parts = [f"#h{level}[{text}]\n{_body(_NUMBERED)}" for level, text in headings]
    source = f"""
#set page(paper: "a4", margin: 3cm, numbering: "1", header: [#text(size: 8pt)[A. Example et al. / Sample Journal]])
#set text(font: "New Computer Modern", size: 10pt)
#set par(justify: true, first-line-indent: 1.5em, leading: 0.6em, spacing: 0.6em)
#let h1(t) = block(above: 1.4em, below: 0.9em, strong(t))
#let h2(t) = block(above: 1.2em, below: 0.8em, emph(t))
#align(center)[#text(size: 17pt)[{TITLE}] #v(6pt)
 #text(size: 12pt)[{AUTHORS[0]}#super[a,∗], {AUTHORS[1]}#super[b], {AUTHORS[2]}#super[a]] \\ #v(4pt)
 #text(size: 8pt, style: "italic")[#super[a]Department of Computer Science, Example University, Boston, USA \\
 #super[b]Institute of Tests, Delft, The Netherlands]]
#text(weight: "bold")[Abstract]

{ABSTRACT}

_Keywords:_ retrieval, graphs, provenance
{"".join(parts)}
#h1[References]
#set par(first-line-indent: 0pt, hanging-indent: 1.8em)
\\[1\\] J. Smith, A. B. Jones, C. Miller, Graph-based retrieval for scholarly search, IEEE Trans. Knowl. Data Eng. 12
(3) (2019) 45--67.

\\[2\\] L. Müller, P. O'Connor, Provenance in dataflow systems, in: Proceedings of VLDB, 2020, pp. 1--12.

\\[3\\] K. Tanaka, Foundations of Indexing, Springer, Berlin, 2015.

\\[4\\] D. Lee, E. Park, F. Kim, Incremental maintenance of community structure, J. Netw. Sci. 4 (2021) 99--120.
doi:10.1234/jns.2021.99.

\\[5\\] M. García-López, J. Roe, T. Poe, Lazy evaluation of graph summaries, arXiv preprint arXiv:2101.01234 (2022).
"""
    return Sample(_compile(folder, "one_column", source), headings, 7)


MAKERS = {"numbered": two_columns_numbered, "named": two_columns_named, "one_column": one_column}
