"""Lists the commands and environments of LaTeX that the parser handles, grouped by their treatment."""

import re
from functools import cache
from typing import Any

from monjyu_assets.parsing.bibliography.pandoc_citations import Citer
from monjyu_assets.parsing.text.marks import silent


def names(text: str) -> frozenset[str]:
    """Split names separated by spaces."""
    return frozenset(text.split())


CITATIONS = {
    "plain": names(
        "cite citep Citep parencite Parencite autocite Autocite footcite footcitetext supercite smartcite citealp"
        " citealp*"
        " citenum onlinecite upcite shortcite fullcite citep* cites parencites autocites footcites bibentry"
    ),
    "named": names("citet Citet textcite Textcite citealt Citealt citeA textcites citet* citealt* newcite"),
    "year": names("citeyear citeyearpar citeyear* parencite* yearcite"),
    "author": names("citeauthor Citeauthor citeauthor* citefullauthor"),
}
"""Commands by the printed form of a citation: in brackets, with its authors in the sentence, only its year, only its
authors."""

HEADINGS = {"part": 0, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "bmhead": 2, "addsec": 2}
RUN_IN = frozenset({"paragraph", "subparagraph"})

LAST_ARGUMENT = names(
    "textbf emph textit texttt textrm textsf textsc textup textmd textsl text mbox hbox fbox uline underline textnormal"
    " textcolor colorbox href resizebox scalebox rotatebox makebox framebox parbox raisebox enquote MakeUppercase"
    " MakeLowercase hl sout ul textls textsubscript ensuremath bibinfo bibfield natexlab texorpdfstring multirow"
    " multicolumn makecell thead foreignlanguage ce revised added highlight lowercase uppercase adjustbox acrshort"
    " acrlong gls Gls glspl ac acs acl acp subfloat shortstack path nolinkurl url num si citenamefont bibnamefont"
    " bibfnamefont emph* textquote mathrm operatorname hypertarget hyperlink hyperref"
)
"""Commands that print their last argument."""

SILENT = names(
    "label includegraphics vspace hspace vspace* hspace* maketitle tableofcontents bibliographystyle bibliography"
    " nocite FloatBarrier bibselect backmatter frontmatter mainmatter"
    " thispagestyle pagestyle setlength addtolength setcounter addtocounter usepackage documentclass hyphenation"
    " centering noindent newpage clearpage index todo addcontentsline markboth input include hypersetup graphicspath"
    " definecolor setlist captionsetup phantom hphantom vphantom rule printbibliography addbibresource"
    " allowdisplaybreaks"
    " title author date affil affiliation address institute email orcid keywords thanks corref cortext ead fntext"
    " subjclass"
    " institution city country state department streetaddress postcode titlerunning authorrunning newtheorem"
    " theoremstyle raggedright flushbottom appendixpage cline cmidrule color pgfplotsset tikzset lstset"
    " setcitestyle selectlanguage tnoteref fnref altaffilmark"
    " doi acmDOI acmConference acmJournal acmYear ccsdesc received copyrightyear setcopyright acmISBN"
    " acmPrice acmVolume acmNumber acmArticle acmMonth pacs journal volume pubyear refstepcounter stepcounter"
    " icmltitle icmltitlerunning icmlauthor icmlaffiliation icmlcorrespondingauthor icmlkeywords footnotemark sisetup"
    " geometry RequirePackage subtitle lhead rhead chead lfoot rfoot cfoot numberwithin DeclareUnicodeCharacter"
    " newcommand renewcommand providecommand newenvironment renewenvironment newcolumntype fontsize selectfont"
)
"""Commands that print nothing in place; titles and authors are read separately."""

CROSS_REFERENCES = names("ref eqref autoref cref Cref pageref vref subref nameref labelcref fullref")
TITLED = {
    "introduction": "Introduction",
    "conclusions": "Conclusions",
    "authorcontributions": "Author Contributions",
    "authorcontribution": "Author Contributions",
    "funding": "Funding",
    "institutionalreview": "Institutional Review Board Statement",
    "informedconsent": "Informed Consent Statement",
    "dataavailability": "Data Availability",
    "codeavailability": "Code Availability",
    "codedataavailability": "Code and Data Availability",
    "conflictsofinterest": "Conflicts of Interest",
    "competinginterests": "Competing Interests",
    "supplementary": "Supplementary Materials",
    **dict.fromkeys(
        ("acknowledgments", "acknowledgements", "acks", "acknowledgment", "acknowledgement", "ack", "acknow"),
        "Acknowledgments",
    ),
}
"""Commands and environments that a class prints as a section with this heading."""
FRONT_NOTES = names(
    "thanks tnotetext fntext cortext nonumnote titlenote subtitlenote authornote equalcont dedication dedicatory"
    " curraddr presentaddress"
)
"""Commands of a title page that print a note."""
CLASSES = {"subjclass": "Mathematics Subject Classification", "pacs": "PACS", "PACS": "PACS", "ccsdesc": "CCS Concepts"}
"""Commands of a title page that print the paper's classification."""
NOTES = frozenset({"footnote", "footnotetext", "endnote", "sidenote", "marginpar"})

DISPLAYED = names(
    "equation align gather multline eqnarray displaymath flalign alignat dmath math subequations empheq xalignat"
)
FLOATS = names(
    "figure table wrapfigure wraptable sidewaysfigure sidewaystable SCfigure SCtable longtable teaserfigure figwindow"
    " margintable marginfigure subfigure subtable"
)
TABULARS = names("tabular tabularx tabulary longtable array tblr supertabular xltabular tabu")
UNSEEN_ENVIRONMENTS = names(
    "tikzpicture pspicture picture CCSXML thebibliography axis pgfpicture keyword keywords IEEEkeywords filecontents"
    " forest circuitikz overpic icmlauthorlist comment feynman bibdiv biblist"
)
ABSTRACTS = frozenset({"abstract", "Abstract", "onecolabstract", "abstractEn"})
KNOWN_ENVIRONMENTS = DISPLAYED | FLOATS | TABULARS | UNSEEN_ENVIRONMENTS | ABSTRACTS | TITLED.keys()

_ARGUMENTS = {
    "{{": "href hypertarget hyperlink textcolor scalebox foreignlanguage bibinfo bibfield setlength addtolength SI"
    " setcounter addtocounter"
    " texorpdfstring fontsize newtheorem IEEEPARstart epigraph",
    "{{{": "multicolumn resizebox multirow addcontentsline definecolor",
    "[{": "parbox raisebox enquote footnotetext endnote caption subfloat includegraphics todo author affil affiliation"
    " hyperref subjclass title acrshort ead num si makecell thead gls date",
    "*[{": "part chapter section subsection subsubsection paragraph subparagraph",
    "*{": "bmhead addsec",
    "{": "textsuperscript textsubscript thanks uline mbox hbox fbox ce hl sout orcid email keywords address institute"
    " institution city country department doi nolinkurl path shortstack textnormal"
    " textquote bibnamefont natexlab bibfnamefont citenamefont nocite hypersetup graphicspath captionsetup lstset"
    " tikzset centerline"
    " state bibliographystyle bibliography pagestyle thispagestyle autoref Cref vref subref nameref printcredits"
    " pgfplotsset sisetup MakeUppercase MakeLowercase ac acs acl acp Gls glspl acrlong cmidrule cline index corref"
    " titlerunning authorrunning ccsdesc subtitle numberwithin operatorname acmDOI acmYear acmJournal acmISBN"
    " setcopyright received bibselect tnoteref fnref selectlanguage altaffilmark spfx",
}
"""Arguments as pylatexenc writes them: `*` a star, `[` an option, `{` an argument."""
_ENVIRONMENT_ARGUMENTS = {
    "[{": "longtable tblr tabu supertabular subfigure subtable",
    "{{": "xltabular tabulary list CSLReferences",
    "[{{": "wraptable wrapfigure",
    "[[{": "minipage",
    "[": "figure table figure* table* sidewaysfigure sidewaystable theorem lemma proof algorithm algorithmic"
    " compactitem"
    " compactenum proposition definition corollary remark example",
    "{": "adjustbox multicols spacing otherlanguage",
}


@cache
def context() -> Any:
    """Return pylatexenc's database of commands with their arguments, extended by those above."""
    from pylatexenc.latexwalker import get_default_latex_context_db
    from pylatexenc.macrospec import EnvironmentSpec, MacroSpec

    database = get_default_latex_context_db()
    macros = [MacroSpec(name, spec) for spec, known in _ARGUMENTS.items() for name in known.split()]
    macros += [MacroSpec(name, "*[[{") for group in CITATIONS.values() for name in group if not name.endswith("*")]
    macros += [MacroSpec(name, "*{") for name in CROSS_REFERENCES]
    kinds = [EnvironmentSpec(name, spec) for spec, known in _ENVIRONMENT_ARGUMENTS.items() for name in known.split()]
    math = [EnvironmentSpec(f"{name}{star}", is_math_mode=True) for name in DISPLAYED for star in ("", "*")]
    database.add_context_category("papers", prepend=True, macros=macros, environments=[*kinds, *math])
    return database


# LaTeX's commands for citations (LaTeX, natbib, biblatex), written out as author and year.
_COMMAND = re.compile(
    r"\\(?:[Cc]ite[a-zA-Z]*|(?:text|paren|auto|foot|super|smart|full|up|short|new|online)cites?|onlinecite|[TPA][a-z]+cite|bibentry|nocite)\*?\s*"
    r"(?:\[[^\[\]]{0,300}\]\s*){0,2}\{([^{}]{1,3000})\}"
)
_UNUSABLE = re.compile(r"[{}\s\[\]@;]")
_MOST_KEYS = 300


def cited_keys(source: str) -> list[str]:
    """All keys that a source cites, in order, without duplicates."""
    return list(dict.fromkeys(key for match in _COMMAND.finditer(source) for key in _keys(match[1])))


def keys_without_mark(source: str) -> list[str]:
    """Return the keys of \\nocite, which are listed without being cited in the text."""
    return [key for match in re.finditer(r"\\nocite\s*\{([^{}*]{1,3000})\}", source) for key in _keys(match[1])]


def all_are_cited(source: str) -> bool:
    return re.search(r"\\nocite\s*\{\s*\*\s*\}", source) is not None


def _keys(text: str) -> list[str]:
    return [key for part in text.split(",")[:_MOST_KEYS] if (key := part.strip()) and not _UNUSABLE.search(key)]


def written(node: Any, citer: Citer | None) -> str | None:
    """The printed form of a citation; None if the macro is not a citation. Unknown keys stay unchanged, in brackets."""
    star = node.nodeargd is not None and bool(node.nodeargd.argnlist) and node.nodeargd.argnlist[0] is not None
    name = node.macroname
    style = next((s for s, names in CITATIONS.items() if name in names or (star and f"{name}*" in names)), None)
    if style is None:
        return None
    given = [argument for argument in node.nodeargd.argnlist[1:] if argument is not None] if node.nodeargd else []
    keys = _keys(given[-1].latex_verbatim().strip("{}")) if given else []
    notes = [_note(argument.latex_verbatim()) for argument in given[:-1]]
    before, after = (notes[0], notes[1]) if len(notes) > 1 else ("", notes[0] if notes else "")
    if not keys:
        return ""
    if citer is None or not any(citer.knows(key) for key in keys):
        return f"[{', '.join(keys)}]"
    if style == "named":
        texts = [citer.write_out(f"@{{{key}}}") if citer.knows(key) else f"[{key}]" for key in keys]
        return ", ".join(texts)
    if style == "author":
        return ", ".join(f"{silent(key)}{citer.people(key)}" if citer.knows(key) else key for key in keys)
    minus = "-" if style == "year" else ""
    items = "; ".join(f"{minus}@{{{key}}}" for key in keys)
    return citer.write_out(f"[{before}{' ' if before else ''}{items}{', ' if after else ''}{after}]")


def _note(source: str) -> str:
    text = re.sub(r"\\[A-Za-z]+\s*|[{}\[\]@$\\]", "", source.replace("~", " ").replace("--", "–"))
    return " ".join(text.split())[:200]
