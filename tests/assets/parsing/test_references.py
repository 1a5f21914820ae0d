"""Entries of many styles to fields; lists to entries."""

from __future__ import annotations

import pytest

from monjyu_assets.parsing.bibliography.citations import link_citations
from monjyu_assets.parsing.bibliography.identifiers import find_doi
from monjyu_assets.parsing.bibliography.references import numbered_starts, parse_entries, parse_reference
from monjyu_assets.parsing.formats.markdown.paper import parse_markdown
from monjyu_core.paper import Section
from monjyu_core.settings.settings import ParseSettings
from tests.limits import ends
from tests.properties import examples, given, st

STYLES = [
    ("1. Abbate A, Melfi R, D'Ambrosio A: Apoptosis in recent myocardial infarction. Clin Ther 2000, 151(4):247-251.",
     ["A Abbate", "R Melfi", "A D'Ambrosio"], 2000, "Apoptosis in recent myocardial infarction", "Clin Ther"),
    ("[1] Y. Wu, S. Antony, and J. H. Doroshow, “Mechanisms of inflammation,” Cancer Letters, vol. 345, pp. 1–3, 2014.",
     ["Y. Wu", "S. Antony", "J. H. Doroshow"], 2014, "Mechanisms of inflammation", "Cancer Letters"),
    ("Bernhoft, A., Torp, M., and Løes, A. K. (2012). Influence of climate on infestation. Food Addit. 29, 1129–1140.",
     ["A. Bernhoft", "M. Torp", "A. K. Løes"], 2012, "Influence of climate on infestation", None),
    ("[2] Zehnder M. Root canal irrigants. J Endod 2006; 32(5): 389-98.",
     ["M Zehnder"], 2006, "Root canal irrigants", "J Endod"),
    ("Jacob Devlin, Ming-Wei Chang, and Kenton Lee. 2019. BERT: Pre-training of transformers. In Proceedings of NAACL.",
     ["Jacob Devlin", "Ming-Wei Chang", "Kenton Lee"], 2019, "BERT: Pre-training of transformers",
     "Proceedings of NAACL"),
    ("[20] Knut, D. E. 1984a. Literate words. Comput. J. 27 (2): 97–111. doi:10.5555/comjnl/27.2.97.",
     ["D. E. Knut"], 1984, "Literate words", "Comput. J."),
    ("Abt N. Goats. J Goat. 2001;1:1–2.", ["N Abt"], 2001, "Goats", "J Goat"),
    ("Vaswani, Ashish, Noam Shazeer, and Niki Parmar. 2017. Attention is all you need. In Advances in NIPS.",
     ["Ashish Vaswani", "Noam Shazeer", "Niki Parmar"], 2017, "Attention is all you need", "Advances in NIPS"),
    ("[3] J. Smith, A. B. Jones, Retrieval for search, J. Netw. Sci. 12 (3) (2019) 45–67.",
     ["J. Smith", "A. B. Jones"], 2019, "Retrieval for search", None),
    ("2. Duduk, N.; Markovic, T. Antifungal Activity of Three Oils. J. Essent. Oil 2015, 18, 529–537. [CrossRef]",
     ["N. Duduk", "T. Markovic"], 2015, "Antifungal Activity of Three Oils", None),
    ("van der Maaten, L., & Hinton, G. (2008). Visualizing data using t-SNE. JMLR, 9(86), 2579-2605.",
     ["L. van der Maaten", "G. Hinton"], 2008, "Visualizing data using t-SNE", "JMLR"),
    ("M. Hutson. “Artificial intelligence faces a crisis.” In: Science 359.6377 (Feb. 2018).",
     ["M. Hutson"], 2018, "Artificial intelligence faces a crisis", "Science"),
    ("[1] P Hall, O Prem, RJ Rand, \"Long paths from a device\", Path Analysis, 2011.",
     ["P Hall", "O Prem", "RJ Rand"], 2011, "Long paths from a device", "Path Analysis"),
    ("[2] P. Hall, TJ Lund, and GD. Rand. Paths in sand : order or robust chance ? Trends in Paths, 12 :70-74, 1997.",
     ["P. Hall", "TJ Lund", "GD. Rand"], 1997, "Paths in sand : order or robust chance ?", "Trends in Paths"),
    ("A.M Hall. The Basis of Paths. Notes of the Path Society, 237 :37–72, 1952.",
     ["A.M Hall"], 1952, "The Basis of Paths", "Notes of the Path Society"),
    ("Hall, J. D., and Coauthors, 2017: A view of paths from above. Bull. Path Soc., 98, 2113–2134.",
     ["J. D. Hall"], 2017, "A view of paths from above", "Bull. Path Soc."),
    ("[4] Ida Holm, Jo Lund, “On wide paths,” in Path Notes, 2013.",
     ["Ida Holm", "Jo Lund"], 2013, "On wide paths", "Path Notes"),
    ("[5] Pathworks, “Boots p30,” Mar. 2019, [Accessed: 01-mar-2022]. [Online]. Available: https://example.org/p30",
     ["Pathworks"], 2019, "Boots p30", None),
    ("[2] Holm Ida,”Paths Vs. Rivers: The Right Way”, August 2015 http://example.org/",
     ["Holm Ida"], 2015, "Paths Vs. Rivers: The Right Way", None),
    ("[8] L. Zou and M. Lu, ``PATH-M: A novel way,'' Proc. of Path Workshop, 2008.",
     ["L. Zou", "M. Lu"], 2008, "PATH-M: A novel way", None),
    ("[3] S. Bach, D. Lee, and C. Yu. Lending A Path: Ways to Walk. In The Path Conference, dec 2015.",
     ["S. Bach", "D. Lee", "C. Yu"], 2015, "Lending A Path: Ways to Walk", "The Path Conference"),
    ("[4] R. Prent, A. Peters Jr., and N. Lund. The analysis of paths. Paths, 34(4):541–554, 1978.",
     ["R. Prent", "A. Peters Jr.", "N. Lund"], 1978, "The analysis of paths", "Paths"),
    ("Nils, L-G., Adolf, R. and Berg, L. (2004). A study of paths. Path Notes, 11, 1-2.",
     ["L-G. Nils", "R. Adolf", "L. Berg"], 2004, "A study of paths", "Path Notes"),
    ("[6] HOLM, D., LUND, D., AND BERG, H. PATH+ proofs. In PM (2012), A. Editor, Ed., pp. 147–154.",
     ["D. HOLM", "D. LUND", "H. BERG"], 2012, "PATH+ proofs", None),
    ("Cohn, P. R., & Lever, H. J. (1991). Walking. Paths, 25, 487-512.",
     ["P. R. Cohn", "H. J. Lever"], 1991, "Walking", "Paths"),
    ("Bond, Vera D, Jean-Luc Gris, Remi Lamb, and Etienne Lever. 2008. “Fast Paths.” Path Notes 8 (10): 1–9.",
     ["Vera D Bond", "Jean-Luc Gris", "Remi Lamb", "Etienne Lever"], 2008, "Fast Paths", "Path Notes"),
    ("Alba Barr-Ced, Tom Elm, Lluís Marc i Villa, and Pia Nako. 2018. Overview of paths. In Path Notes.",
     ["Alba Barr-Ced", "Tom Elm", "Lluís Marc i Villa", "Pia Nako"], 2018, "Overview of paths", "Path Notes"),
    ("Alva, Carl D., and Kim C Border (2006): Paths without End: A Hiker’s Guide. River Press.",
     ["Carl D. Alva", "Kim C Border"], 2006, "Paths without End: A Hiker’s Guide", None),
    ("Ames, A., Birk, B. and Cole, C. (2005): Wide paths, J. Paths, 9, 11-19.",
     ["A. Ames", "B. Birk", "C. Cole"], 2005, "Wide paths", "J. Paths"),
    ("[1] A. Ames. Wide paths. In Proc. of the 3rd Conf. on Paths, pages 1–9, 2001.",
     ["A. Ames"], 2001, "Wide paths", "Proc. of the 3rd Conf. on Paths"),
    ("Path Unit, Bureau of Investigation, “Paths, a view,” 1992.",
     ["Path Unit"], 1992, "Paths, a view", None),
    ("Smith, John, Doe, Jane, and Roe, Richard. 2001. The title of the work. Journal of Paths 3, 1-4.",
     ["John Smith", "Jane Doe", "Richard Roe"], 2001, "The title of the work", "Journal of Paths"),
    ("Akker, O. van den, Bakker, M., Assen, M. A. L. M. van, & Elm, M. (2023). The use of paths. Path Notes, 3, 1.",
     ["O. van den Akker", "M. Bakker", "M. A. L. M. van Assen", "M. Elm"], 2023, "The use of paths", "Path Notes"),
]  # fmt: skip

LANGUAGES = [
    ("Bianchi A., Verdi B. (2001), Vie larghe, «Rivista delle vie», 3, pp. 1-9.",
     ["A. Bianchi", "B. Verdi"], 2001, "Vie larghe", "Rivista delle vie"),
    ("Müller, Hans und Schmidt, Eva: Der Weg der Ameisen. In: Zeitschrift für Zoologie 3 (2012), H. 2, S. 11–20.",
     ["Hans Müller", "Eva Schmidt"], 2012, "Der Weg der Ameisen", "Zeitschrift für Zoologie"),
    ("Meier, A.; Huber, B. (2018): Digitale Wege. In: Weber, C. (Hrsg.): Handbuch der Wege. Berlin, S. 44-60.",
     ["A. Meier", "B. Huber"], 2018, "Digitale Wege", "Handbuch der Wege"),
    ("Lebrun, A. et Renard, P. (2012), « Le chemin », Revue de zoologie, vol. 3, no 2, p. 11-20.",
     ["A. Lebrun", "P. Renard"], 2012, "Le chemin", "Revue de zoologie"),
    ("Ruiz Vega, L., Núñez, A. y Paz, P. (2015). El camino. Revista de Zoología, 3(2), 11-20.",
     ["L. Ruiz Vega", "A. Núñez", "P. Paz"], 2015, "El camino", "Revista de Zoología"),
    ("FREITAS, Paulo. O caminho das águas. 17. ed. Rio de Janeiro: Mar e Terra, 1987.",
     ["Paulo FREITAS"], 1987, "O caminho das águas", None),
    ("SILVA, J. P.; SOUZA, M. A. O caminho. Revista Sul, v. 3, n. 2, p. 11-20, 2003. Acesso em: 12 mar. 2015.",
     ["J. P. SILVA", "M. A. SOUZA"], 2003, "O caminho", "Revista Sul"),
    ("12 PATHTHESWITCH. Path - testing for walks (especially long ones). 2021. Disponível em: <http://example.org/p>. "
     "Acesso em: 25.05.2021.", ["PATHTHESWITCH"], 2021, "Path - testing for walks (especially long ones)", None),
    ("[3] Ida Holm und Jo Lund. Wege im Netz | WDN. 12. Apr. 2019. url: https://example.org (besucht am 1. 11. 2020).",
     ["Ida Holm", "Jo Lund"], 2019, "Wege im Netz | WDN", None),
    ("Иванов И. И., Петров П. П. О свойствах путей // Заметки о путях. — 2011. — Т. 5, № 2. — С. 10–20.",
     ["И. И. Иванов", "П. П. Петров"], 2011, "О свойствах путей", "Заметки о путях"),
    ("Белов А. А. Пути севера // Вестник путей. 2010. № 3. С. 4–9.",
     ["А. А. Белов"], 2010, "Пути севера", "Вестник путей"),
    ("Holm, I.O; Lund, J.K. & Roe, A. 2013. Wide paths. Path Notes 3: 1-9.",
     ["I.O Holm", "J.K. Lund", "A. Roe"], 2013, "Wide paths", "Path Notes"),
    ("Белов А. А. Ways on rivers //2020 Conference on Paths. — IEEE, 2020. — P. 41–43.",
     ["А. А. Белов"], 2020, "Ways on rivers", "2020 Conference on Paths"),
    ("Сидоров П.П. Метод путей [Электронный ресурс]. URL: http://example.ru/x (дата обращения: 12.03.2019).",
     ["П.П. Сидоров"], None, "Метод путей", None),
    ("张三, 李四, 等. 路径检索综述[J]. 路径学报, 2018, 29(3): 1-20.",
     ["张三", "李四"], 2018, "路径检索综述", "路径学报"),
    ("赵五. 水与路[M]. 北京: 河岸出版社, 2008.", ["赵五"], 2008, "水与路", None),
    ("Hill J, Brown K. Deep paths[J]. Paths, 2010, 12(3): 4-9.", ["J Hill", "K Brown"], 2010, "Deep paths", "Paths"),
    ("李四. 网络路径[EB/OL]. (2012-03-01)[2013-05-06]. http://www.example.cn/a.html.",
     ["李四"], 2012, "网络路径", None),
    ("山田太郎・鈴木花子（2020）「道の検索」『道の研究』61(3), 10–20頁.",
     ["山田太郎", "鈴木花子"], 2020, "道の検索", "道の研究"),
    ("山田太郎：道の地図，道路学会論文誌，vol.61, no.3, pp.10-20 (2020).",
     ["山田太郎"], 2020, "道の地図", "道路学会論文誌"),
    ("[2] https://example.jp/a.pdf, 道路観測研究所連合会, ” 全国の「道」の概要”",
     ["道路観測研究所連合会"], None, "全国の「道」の概要", None),
    ("김철수, 이영희. 길 검색 방법. 길학회지, 47(3), 10-20, 2020.",
     ["김철수", "이영희"], 2020, "길 검색 방법", "길학회지"),
]  # fmt: skip
UNTITLED = [
    ("T. Waller, J. Disc Phys. 12, 45 (1988).", ["T. Waller"], 1988, "J. Disc Phys."),
    ("A. Ray and B. Sen, Phys. Rev. Z 1, 21 (2001); 2, 33 (2002).", ["A. Ray", "B. Sen"], 2001, "Phys. Rev. Z"),
    (
        "[12] D. Grau, Nucl. Disc B 236, 349 (1984); E. Witt, Disc. Math. 92, 455 (1985).",
        ["D. Grau"],
        1984,
        "Nucl. Disc B",
    ),
    ("P. Hora and E. Witt, Disc. Phys. B460 (1996) 506, hep-th/9510999.", ["P. Hora", "E. Witt"], 1996, "Disc. Phys."),
    ("Grau A. Disc. Rev. Lett. 85, 1158-1161 (2000).", ["A Grau"], 2000, "Disc. Rev. Lett."),
    ("L. Rand and R. Sund, Class.Disc.Grav.17:L9-L16,2000.", ["L. Rand", "R. Sund"], 2000, "Class.Disc.Grav."),
    ("Berg, A., & Crof, S. 2019, arXiv e-prints, arXiv:1903.08381", ["A. Berg", "S. Crof"], 2019, "arXiv e-prints"),
    ("H. Stone, Nature 123, 45 (1988)", ["H. Stone"], 1988, "Nature"),
    (
        "Monk, D. G., Lever, S. E., Canz, B., et al. 2003, AJ, 125, 984",
        ["D. G. Monk", "S. E. Lever", "B. Canz"],
        2003,
        "AJ",
    ),
    ("Mainz et al. 2011, ApJ, submitted", ["Mainz"], 2011, "ApJ"),
    ("Adam G., Robert J., 2004, J. Appl. Path., 96, 1", ["G. Adam", "J. Robert"], 2004, "J. Appl. Path."),
    (
        "Harris, A. W., & Berg, C. R. 2015, in Paths IV (Univ. Path Press, Tucson), 835",
        ["A. W. Harris", "C. R. Berg"],
        2015,
        "Paths IV",
    ),
    ("[ 1 ] H. Kropp , Science 1988 , 242 , 1139 – 1145 .", ["H. Kropp"], 1988, "Science"),
]


@pytest.mark.parametrize(("raw", "authors", "year", "venue"), UNTITLED, ids=[entry[0][:20] for entry in UNTITLED])
def test_an_entry_without_a_title(raw: str, authors: list[str], year: int, venue: str) -> None:
    reference = parse_reference("7", raw)
    assert (reference.authors, reference.title, reference.year) == (authors, None, year)
    assert reference.venue == venue


@pytest.mark.parametrize(
    ("raw", "year"),
    [
        ("H. Stone, “The shape of flesh,” in CCS’07.", 2007),
        ("M. Tran, “On reach,” in RAID '98, pp. 1–9.", 1998),
        ("Smith, J. n.d. An undated page. https://example.org/undated (accessed 3 May 2020).", None),
        ("Smith, J. (n.d.). An undated page. Retrieved 3 May 2020 from https://example.org/undated", None),
        ("Dupont, J. (s. d.). Une page. Consulté le 3 mai 2020.", None),
        ("Smith, J. A page. Paths Press, 2015. Accessed: 2020-05-03.", 2015),
        ("[7] P. Ball. Forging paths : a commentary on Turner(1952)’The basis of paths’. Path Press, 370, 2015.", 2015),
        (
            "I. Gelb and M. Kapp, Wide paths, Modern Paths, Path Press, Boston, MA, 2008, Reprint of the 1994 edition.",
            2008,
        ),
        ("A. Roe, Wide paths, Path Notes, 2004, p. 1999.", 2004),
        (
            "Smith, J. Paths. River Press, Dec. 2023. Available at: https://example.org. Last access: Jan. 14, 2024.",
            2023,
        ),
        ("Smith, J. (in press). A paper to come. Future Paths.", None),
    ],
)
def test_the_year_of_a_work(raw: str, year: int | None) -> None:
    assert parse_reference("1", raw).year == year


@pytest.mark.parametrize(
    ("raw", "authors", "year", "title", "venue"), [*STYLES, *LANGUAGES], ids=[s[0][:20] for s in [*STYLES, *LANGUAGES]]
)
def test_styles(raw: str, authors: list[str], year: int | None, title: str, venue: str | None) -> None:
    reference = parse_reference("7", raw)
    assert reference.ref_id == "7" and reference.raw_text == raw
    assert reference.authors == authors
    assert reference.year == year
    assert reference.title == title
    assert venue is None or reference.venue == venue


def test_identifiers() -> None:
    assert find_doi("see https://doi.org/10.1016/S0378-8741(99)00058-6).") == "10.1016/s0378-8741(99)00058-6"
    assert find_doi("[http://dx.doi.org/10.1016/j.joen.2005.09.014] [PMID: 1]") == "10.1016/j.joen.2005.09.014"
    assert find_doi("doi: 10.1234/ abc.5") == "10.1234/abc.5"
    assert find_doi("no identifier, 10.5 km") is None
    assert parse_reference("1", "C. Doersch. Tutorial on VAEs. 2016. arXiv: 1606.05908.").arxiv_id == "1606.05908"
    assert parse_reference("1", "A. Roe. Old paper. arXiv:hep-th/9901001, 1999.").arxiv_id == "hep-th/9901001"


def test_year_is_not_a_page_or_identifier() -> None:
    raw = "Roe A. A study. J Test 2012; 5: 1990-2001. doi:10.1/2003.5"
    assert parse_reference("1", raw).year == 2012
    assert parse_reference("1", "Doe J. Things. arXiv:2101.01234, 2022.").year == 2022


@given(st.text(max_size=300))
@examples(60)
def test_any_text_gives_a_reference(text: str) -> None:
    reference = parse_reference("x", text)
    assert reference.raw_text == " ".join(text.split())
    assert reference.year is None or 1500 < reference.year < 2100


@pytest.mark.parametrize(
    "unit",
    [
        "Aa-",
        "A. ",
        "Aa B. Cc, ",
        "Aa, ",
        ". a",
        "“",
        "Van der ",
        "中文",
        "Aa.",
        "( a",
        "张三, ",
        "A. B 1, 2 (2001); ",
        "A, 1 (",
        "и др. ",
        "2001, 1, ",
    ],
)
def test_hostile_entries_take_no_time(unit: str) -> None:
    ends(lambda: parse_reference("1", unit * 3000))


@pytest.mark.parametrize("marks", ["<>", "\u27e8\u27e9", "\u3010\u3011", "{}"])
def test_numbers_in_other_brackets(marks: str) -> None:
    opened, closed = marks
    works = [f"{opened}{n}{closed} A. Roe. Wide doors {n}. Queue Notes, 3:1-9, 2010." for n in (1, 2, 3)]
    assert numbered_starts(works) == [0, 1, 2]
    references = parse_entries(["1", "2", "3"], works)
    assert [(r.title, r.authors) for r in references] == [(f"Wide doors {n}", ["A. Roe"]) for n in (1, 2, 3)]
    text = f"They wait {opened}1{closed} and go {opened}2, 3{closed}."
    assert [c.ref_id for c in link_citations([Section(heading="A", text=text)], references)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    "entry",
    [
        "Suber, P. (2012). Open access and copyright. MIT Press.",
        "Lindqvist, A. (2019). Counting herons. Marsh Studies, 4(2), 11-19. © 2019 Marsh Press. All rights reserved.",
    ],
)
def test_works_on_rights_and_their_notices_stay_references(entry: str) -> None:
    source = f"# Herons\n\nAnn Bell\n\n## Introduction\n\nHerons eat fish.\n\n## References\n\n{entry}\n"
    assert len(parse_markdown(source.encode(), ParseSettings()).references) == 1
