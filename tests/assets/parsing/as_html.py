"""A JATS article as the page that PubMed Central makes of one, so that both can be read and compared."""

from __future__ import annotations

from html import escape
from typing import Any

from lxml import etree

TAGS = {"p": "p", "italic": "em", "bold": "strong", "sup": "sup", "list": "ul", "list-item": "li", "title": "h2"}
KEPT = {"table", "thead", "tbody", "tr", "td", "th", "math", "mi", "mo", "mn", "mrow", "msup", "mfrac"}
UNSEEN = {"label", "graphic", "inline-graphic", "object-id"}


def page_of(article: Any) -> str:
    """`article` is without namespaces."""
    meta = article.find("front/article-meta")
    body = "".join(_one(part, 2) for part in article.find("body"))
    references = "".join(_reference(item) for item in article.find("back/ref-list").findall("ref"))
    acknowledgments = "".join(_one(part, 2) for part in article.find("back/ack"))
    title = _inner(meta.find("title-group/article-title"), 1)
    parts = [
        f'<section class="abstract"><h2>Abstract</h2>{_inner(meta.find("abstract"), 2)}</section>{body}',
        f'<section class="ack"><h2>Acknowledgments</h2>{acknowledgments}</section>',
        f'<section class="ref-list"><h2>References</h2><ul class="ref-list">{references}</ul></section>',
    ]
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>P</title>{"".join(_tags(article))}</head>'
        '<body><header class="ncbi-header"><nav><ul><li>Search</li></ul></nav></header><main id="main"><article>'
        f'<section class="front-matter"><h1>{title}</h1><div class="cg p">Names, addresses and buttons</div></section>'
        f'<section class="body main-article-body">{"".join(parts)}</section></article></main>'
        '<div class="similar-articles"><h2>Similar articles</h2><p>Another.</p></div></body></html>'
    )


def _tags(article: Any) -> list[str]:
    meta = article.find("front/article-meta")
    said = [("citation_journal_title", article.findtext("front/journal-meta//journal-title"))]
    said += [("citation_title", "".join(meta.find("title-group/article-title").itertext()).rstrip("*"))]
    places = {aff.get("id"): "".join(aff.itertext()).lstrip("12") for aff in meta.findall("aff")}
    for person in meta.find("contrib-group").findall("contrib"):
        said.append(("citation_author", f"{person.findtext('name/given-names')} {person.findtext('name/surname')}"))
        said += [
            ("citation_author_institution", places[link.get("rid")]) for link in person.findall("xref[@ref-type='aff']")
        ]
    said += [(f"citation_{kind}", meta.findtext(f"article-id[@pub-id-type='{kind}']")) for kind in ("doi", "pmid")]
    said += [("citation_volume", meta.findtext("volume")), ("citation_issue", meta.findtext("issue"))]
    said += [("citation_firstpage", meta.findtext("fpage")), ("citation_lastpage", meta.findtext("lpage"))]
    said += [("citation_publication_date", "2021/03/12")]
    said += [("citation_keyword", word.text) for word in meta.iter("kwd")]
    return [f'<meta name="{name}" content="{escape(content)}">' for name, content in said]


def _inner(element: Any, level: int) -> str:
    pieces = [escape(element.text or "")]
    for child in element:
        pieces += [_one(child, level) if isinstance(child.tag, str) else "", escape(child.tail or "")]
    return "".join(pieces)


def _one(element: Any, level: int) -> str:
    tag = element.tag
    match tag:
        case "sec":
            return f"<section>{_inner(element, level + 1)}</section>"
        case "title":
            return f'<h{level - 1} class="pmc_sec_title">{_inner(element, level)}</h{level - 1}>'
        case "xref" if element.get("ref-type") == "bibr":
            keys = element.get("rid").split()
            return ",".join(
                f'<a href="#{key}">{text}</a>' for key, text in zip(keys, _inner(element, 1).split(","), strict=True)
            )
        case "xref" if element.get("ref-type") == "fn":
            return f'<sup><a href="#{element.get("rid")}">{_inner(element, 1)}</a></sup>'
        case "fn":
            return ""
        case "disp-formula":
            tex = element.findtext(".//tex-math")
            note = f'<annotation encoding="application/x-tex">{escape(tex)}</annotation>'
            inner = f"<math display='block'><semantics><mi>w</mi>{note}</semantics></math>"
            row = f'<tr><td class="formula">{inner}</td><td class="label">(1)</td></tr>'
            return f'</p><table class="disp-formula p">{row}</table><p>'
        case "table-wrap" | "fig":
            return f"</p>{_float(element)}<p>"
    if tag in UNSEEN:
        return ""
    if tag in KEPT:
        return f"<{tag}>{_inner(element, level)}</{tag}>"
    return f"<{TAGS[tag]}>{_inner(element, level)}</{TAGS[tag]}>" if tag in TAGS else _inner(element, level)


def _float(element: Any) -> str:
    title, *rest = [_inner(part, 1) for part in element.find("caption")]
    tables = element.findall("table")
    table = "".join(etree.tostring(part, encoding="unicode", with_tail=False) for part in tables)
    outer, kind = ("section", "tw") if tables else ("figure", "fig")
    image = "" if tables else '<p class="img-box"><img src="f.jpg" alt="f"></p>'
    foot = element.find("table-wrap-foot")
    below = (
        f'<div class="tw-foot p"><div class="fn">{_inner(foot.find("fn"), 1)}</div></div>' if foot is not None else ""
    )
    about = f"<figcaption><p>{' '.join(rest)}</p></figcaption>" if rest else ""
    return (
        f'<{outer} class="{kind} xbox"><h3 class="obj_head">{element.findtext("label")}. {title}</h3>{image}'
        f'<div class="tbl-box p">{table}</div><div class="p"><a href="#">Open in a new tab</a></div>'
        f"{about}{below}</{outer}>"
    )


def _reference(item: Any) -> str:
    doi = item.findtext(".//pub-id")
    people = ", ".join(f"{n.findtext('surname')} {n.findtext('given-names')[0]}" for n in item.iter("name"))
    one = item[-1]
    text = "".join(one.itertext())
    if people:
        told = [one.findtext(name) for name in ("article-title", "source", "year")]
        text = f"{people}. {told[0]}. {told[1]}. {told[2]};12(3):101–119."
    links = f' [<a href="https://doi.org/{doi}">DOI</a>]' if doi else ""
    links += ' [<a href="#x">Google Scholar</a>]'
    label = f'<span class="label">{item.findtext("label")}.</span>'
    return f'<li id="{item.get("id")}">{label}<cite>{text}</cite>{links}</li>'
