"""The head of a LaTeX paper: authors as journals' classes write them, titles set by hand, dates, notes."""

from __future__ import annotations

import pytest

from tests.assets.parsing.test_latex import parsed


@pytest.mark.parametrize(
    ("source", "names"),
    [
        (r"\author{A. One \and B. Two}", [("A. One", None), ("B. Two", None)]),
        (
            r"\author{Ann One \\ Univ. X \\ \texttt{a@x.org} \And Ben Two \\ Univ. Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Univ. Y")],
        ),
        (
            r"\author[1]{Ann One}\author[1,2]{Ben Two}\affil[1]{Univ. X}\affil[2]{Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Univ. X; Lab Y")],
        ),
        (
            r"\author{Ann One\inst{1} \and Ben Two\inst{2}}\institute{Univ. X \\ \email{a@x.org} \and Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{Ann One}\affiliation{\institution{Univ. X}\country{Z}}\email{a@x.org}\author{Ben Two}"
            r"\affiliation{\institution{Lab Y}}",
            [("Ann One", "Univ. X, Z"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author[a]{Ann One\corref{c}}\ead{a@x.org}\author[b]{Ben Two}"
            r"\affiliation[a]{organization={Univ. X},city={Z}}\address[b]{Lab Y}",
            [("Ann One", "Univ. X, Z"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{\IEEEauthorblockN{Ann One}\IEEEauthorblockA{Univ. X\\ a@x.org}\and\IEEEauthorblockN{Ben Two}"
            r"\IEEEauthorblockA{Lab Y}}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author*[1]{\fnm{Ann} \sur{One}}\email{a@x.org}\author[2]{\fnm{Ben} \sur{Two}}"
            r"\affil[1]{Univ. X}\affil[2]{Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\icmlauthor{Ann One}{x}\icmlauthor{Ben Two}{y}\icmlaffiliation{x}{Univ. X}\icmlaffiliation{y}{Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{First Person \\ Aff / Line 1 \\ Aff / Line 2 \\ Aff / Line 3 \\ \texttt{a@x.org} \\\And "
            r"Second van Person \\ Aff / Line 1 \\ Aff / Line 2 \\ Aff / Line 3 \\ \texttt{b@x.org} \\}",
            [
                ("First Person", "Aff / Line 1, Aff / Line 2, Aff / Line 3"),
                ("Second van Person", "Aff / Line 1, Aff / Line 2, Aff / Line 3"),
            ],
        ),
        (
            r"\author{Ann One$^\mathbf{\dagger}$\Thanks{ equal contribution} "
            r"\quad {\bf Ben Two}$^\mathbf{\dagger\ddagger}$ \\ "
            r"$^\mathbf{\dagger}$ Univ. X \\ $^\mathbf{\ddagger}$ Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Univ. X; Lab Y")],
        ),
        (
            r"\author{\textbf{Ann One}$^{1}$ \quad \textbf{Ben Two}$^{2}$ \quad Carl Three$^{1,2}$\\ $^{1}$Parse "
            r"University \quad $^{2}$Tree Lab \\ \texttt{\{one,two,three\}@y.org}}",
            [("Ann One", "Parse University"), ("Ben Two", "Tree Lab"), ("Carl Three", "Parse University; Tree Lab")],
        ),
        (
            r"\author{Ann One$^\dagger$, Ben Two$^\ddagger$ \\ $^\dagger$Parse University, $^\ddagger$Tree Lab}",
            [("Ann One", "Parse University"), ("Ben Two", "Tree Lab")],
        ),
        (
            r"\author[K. One et al.]{Kim One,$^{1}$\thanks{Mail us} A. Two$^{2}$ and Al van Three$^{2,3}$\\ $^{1}$"
            r"Royal Society\\ $^{2}$Lab Y\\ $^{3}$Lab Z}",
            [("Kim One", "Royal Society"), ("A. Two", "Lab Y"), ("Al van Three", "Lab Y; Lab Z")],
        ),
        (
            r"\author{Ann~One\altaffilmark{1,2}}\author{Ben~Two\altaffilmark{2}}\altaffiltext{1}{Univ. X}"
            r"\altaffiltext{2}{Lab Y}",
            [("Ann One", "Univ. X; Lab Y"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\Author[1]{Jean}{Dupont}\Author[1,2]{Ana}{de la Cruz}\affil[1]{Univ. X}\affil[2]{Lab Y}",
            [("Jean Dupont", "Univ. X"), ("Ana de la Cruz", "Univ. X; Lab Y")],
        ),
        (
            r"\Author{Ann One $^{1,\dagger}$\orcidA{}, Ben Two $^{1}$ and Carl Three $^{2,}$*}"
            r"\address{$^{1}$ \quad Univ. X; b@x.org\\ $^{2}$ \quad Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Univ. X"), ("Carl Three", "Lab Y")],
        ),
        (
            r"\authors{A. B. One\affil{1}, and D. E. Two\affil{1,2}}\affiliation{1}{Univ. X}\affiliation{2}{Lab Y}",
            [("A. B. One", "Univ. X"), ("D. E. Two", "Univ. X; Lab Y")],
        ),
        (
            r"\author{Ann One}{Univ. X}{a@y.org}{0000-0002-1825-0097}{A grant}\author{Ben Two}{Lab Y}{b@y.org}{}{}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\twoauthors{Ann One}{Ben Two}\twoaffiliations{Univ. X}{Lab Y}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{Ann One\institute{Univ. X\\ Town} \email{a@y.org} \and Ben Two\institute{Lab Y}}",
            [("Ann One", "Univ. X, Town"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{\name Ann One \email a@y.org \\ \addr Department X\\ Town \AND "
            r"\name Ben Two \\ \addr Lab Y}",
            [("Ann One", "Department X, Town"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{\name{A.~N. One\textsuperscript{a} and Ben Two\textsuperscript{b}} \affil{\textsuperscript{a}"
            r"Univ. X; \textsuperscript{b}Lab Y}}",
            [("A. N. One", "Univ. X"), ("Ben Two", "Lab Y")],
        ),
        (
            r"\author{Ann One\thanks{Department X (\email{a@y.org}).} \and Ben Two\thanks{Supported by Univ. Y.}}",
            [("Ann One", "Department X"), ("Ben Two", None)],
        ),
        (
            r"\author*[1]{\fnm{J\'{o}zef} \spfx{van} \sur{Kowal} \sfx{II}}\affil*[1]{\orgdiv{Department}, "
            r"\orgname{Univ. X}, \orgaddress{\city{Delft}, \country{Z}}}",
            [("Józef van Kowal II", "Department, Univ. X, Delft, Z")],
        ),
        (
            r"\author{Ann One\fnref{f1}}\author{Ben Two\fnref{f2}}\fntext[f1]{Univ. X}\fntext[f2]{Lab of Y College}",
            [("Ann One", "Univ. X"), ("Ben Two", "Lab of Y College")],
        ),
        (
            r"\author{Ann One~~~~Ben Two\ \ \ Carl Three\\ Univ. X}\collaboration{The Roots}",
            [("Ann One", "Univ. X"), ("Ben Two", "Univ. X"), ("Carl Three", "Univ. X"), ("The Roots", None)],
        ),
        (r"\author{王小明，李华 \and 山田太郎}", [("王小明", None), ("李华", None), ("山田太郎", None)]),
    ],
)
def test_author_styles(source: str, names: list[tuple[str, str | None]]) -> None:
    paper = parsed("Text.", source)
    assert [(author.name, author.affiliation) for author in paper.authors] == names
    if "a@x.org" in source:
        assert paper.authors[0].email == "a@x.org"


def test_addresses_in_another_order_than_the_names() -> None:
    paper = parsed(
        "Text.",
        r"\author{Ann One$^{1}$ \quad Ben Two$^{1}$ \quad Carla Three$^{1}$ \\ $^{1}$Univ. X \\ "
        r"\texttt{\{one,carla\}@x.org} \texttt{btwo@y.org}}",
    )
    assert [author.email for author in paper.authors] == ["one@x.org", "btwo@y.org", "carla@x.org"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (r"J\'{e}r\^{o}me C\^{o}t\'{e}", "Jérôme Côté"),
        (r"L\'{e}v\^{e}que Th\^{u}y", "Lévêque Thûy"),
        (r"{\^I}le \^{\i}x", "Île îx"),
        (r"Nguy\~{\^{e}}n \u{G}\'\i", "Nguyễn Ğí"),
        (r"\v{S}im \c{C}e\c{s} \L{}u\k{a} \H{o} \r{A}s \.{Z}a \=e", "Šim Çeş Łuą ő Ås Ża ē"),
    ],
)
def test_accents_in_names(source: str, name: str) -> None:
    assert [author.name for author in parsed("Text.", rf"\author{{{source} \and Ann One}}").authors] == [
        name,
        "Ann One",
    ]


@pytest.mark.parametrize(
    ("source", "date"),
    [
        (r"\date{\today}", None),
        (r"\date{Draft of \today}", None),
        (r"\date{\the\year}", None),
        (r"\date{}", None),
        (r"\date{March 12, 2021}", "2021-03-12"),
        (r"\date{Received 1 May 2003 / Accepted 31 July 2003}", "2003-07-31"),
        (r"\date{Spring term 2011}", "2011"),
        (r"\acmYear{2018}\date{\today}", "2018"),
    ],
)
def test_the_day_of_reading_is_no_date(source: str, date: str | None) -> None:
    assert parsed("Text.", source).publication_date == date


@pytest.mark.parametrize(
    "head",
    [
        r"\begin{center}{\LARGE\bf On Slow\\ Ditches}\\[1ex] Ann One and Ben Two\\ Marsh Town\end{center}",
        r"\begin{titlepage}\centering {\Huge On Slow Ditches}\par \vspace{1cm} {\large Ann One, Ben Two}\par Marsh Town"
        r"\end{titlepage}",
        r"\centerline{\bf On Slow Ditches}"
        "\n\n"
        r"\centerline{Ann One \quad Ben Two}"
        "\n\n"
        r"\centerline{Marsh Town}",
    ],
)
def test_titles_set_by_hand(head: str) -> None:
    paper = parsed(head + "\n\n" + r"\section{Introduction} Ditches are slow.")
    assert (paper.title, [author.name for author in paper.authors]) == ("On Slow Ditches", ["Ann One", "Ben Two"])
    assert [(s.heading, s.text) for s in paper.sections] == [("", "Marsh Town"), ("Introduction", "Ditches are slow.")]


def test_front_in_the_body_is_not_read_twice() -> None:
    body = r"""\title[Short]{Long\thanks{Told at a meeting.}}\author*[1]{\fnm{Ann} \sur{One}}\email{a@x.org}
    \affil*[1]{\orgname{Univ. X}}\abstract{\textbf{Aim:} To see.}\keywords{ditch, marsh}\subjclass[2010]{57M25}
    \maketitle
    \section{Introduction} Words.\footnote{A note.} \bmhead{Acknowledgments} We thank.
    \begin{appendices}\section{Data} More.\end{appendices}"""
    paper = parsed(body)
    assert [(s.level, s.heading, s.text) for s in paper.sections] == [
        (1, "Abstract", "Aim: To see."),
        (1, "Introduction", "Words.\n\nA note."),
        (1, "Acknowledgments", "We thank."),
        (1, "Data", "More."),
        (1, "Notes", "Told at a meeting.\n\nMathematics Subject Classification: 57M25"),
    ]
    assert (paper.title, paper.keywords, paper.sections[3].section_type) == ("Long", ["ditch", "marsh"], "appendix")


def test_sections_that_a_class_names() -> None:
    paper = parsed(
        r"\section{One} Words. \acknowledgments It was a pleasure. \funding{None.} \conflictsofinterest{No.}"
    )
    assert [(s.heading, s.text) for s in paper.sections] == [
        ("One", "Words."),
        ("Acknowledgments", "It was a pleasure."),
        ("Funding", "None."),
        ("Conflicts of Interest", "No."),
    ]


def test_notes_of_captions_and_headings_stay() -> None:
    paper = parsed(
        r"\section{One\footnote{Of the heading.}} Words.\begin{figure}\caption{C.\footnote{Of it.}}\end{figure}"
    )
    assert paper.sections[0].text == "Words.\n\nOf the heading.\n\nOf it." and paper.figures[0].caption == "C."


def test_lines_of_their_own() -> None:
    said = "Roots go deep where the water is far below, and they stay there as long as it does, said my neighbour. " * 2
    paper = parsed(
        rf"\epigraph{{{said}}}{{Hal Vard}} \centerline{{\bf Abstract}} Roots are deep. \section{{Introduction}} Words.",
        r"\title{Roots}\author{Ann One}",
    )
    assert paper.abstract == "Roots are deep." and paper.sections[0].text == f"{said.strip()}\n\n— Hal Vard"


def test_own_environments_and_lost_edges() -> None:
    """Either made the tolerant parser read the rest again and again."""
    own = "".join(rf"\newenvironment{{t{c}}}[1]{{\begin{{X{c}}}#1: }}{{\end{{X{c}}}}}" for c in "abcdefghijklmnopqrst")
    paper = parsed(own + r"\section{A} \begin{ta}{Bold}Words\end{ta}" + r"{\begin{quote} x}" * 40 + " end")
    assert paper.sections[0].text.startswith("Bold: Words") and paper.sections[0].text.endswith("x end")


@pytest.mark.parametrize(
    ("front", "year"),
    [
        ("\\doi{10.1234/jr.2019.12}", "2019"),
        ("\\conference{Proceedings of the Workshop on Roots 2007}\\doi{10.1234/w.2009.1}", "2007"),
        ("\\date{\\today}", None),
        ("\\doi{10.1234/s.12345.2019x}\\journal{Roots, 1990 to 2000}", None),
    ],
)
def test_a_year_is_in_the_venue_or_the_doi(front: str, year: str | None) -> None:
    assert parsed("Words.", f"\\title{{Roots}}{front}").publication_date == year


@pytest.mark.parametrize(("option", "places"), [("", "AB"), ("[2,{1,2}]", ["B", "A; B"])])
def test_the_lists_of_the_apa_classes(option: str, places: list[str]) -> None:
    paper = parsed(
        "Words.", rf"\title{{Roots}}\authorsnames{option}{{Ada Ames, Bo Birk}}\authorsaffiliations{{{{A}},{{B}}}}"
    )
    found = [(author.name, author.affiliation) for author in paper.authors]
    assert found == list(zip(["Ada Ames", "Bo Birk"], places, strict=True))
