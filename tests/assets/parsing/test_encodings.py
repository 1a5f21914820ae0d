"""Text in any common encoding comes out as it was written; what is no text gives a document's error and no other."""

from __future__ import annotations

import codecs
import random
import unicodedata

import pytest

from monjyu_assets.parsing.formats.plaintext import parse_text
from monjyu_assets.parsing.text.decoding import decode
from monjyu_core.errors import DocumentError, MalformedDocument
from monjyu_core.settings.settings import ParseSettings
from tests.properties import examples, given, st

JAPANESE = (
    "知識グラフによる検索\n\n1. はじめに\n\n本稿では、論文から知識グラフを作り、質問に答える方法を述べる。"
    "従来の手法では、段落を一つずつ探していた。カタカナの用語も多い。\n\n2. 結果\n\n精度は九割に達した。表１に示す。\n"
)
SHORT_JAPANESE = "題名\n\n検索の話である。グラフを使う。\n"
GERMAN = (
    "Über die Größe von Straßen\n\nDie Straßen sind schön, größer und müßig. Der Übergang währt länger als früher.\n"
)
FRENCH = "Été à Noël\n\nL’œuvre a été reçue à l’hôtel où l’âme française s’élève ; ça coûte 20 €, déjà payés là-bas.\n"
POLISH = "Zażółć gęślą jaźń\n\nŁódź jest dużym miastem. Źródła są różne, a ślady wciąż świeże i ćwiczenia trwają.\n"
CZECH = "Příliš žluťoučký kůň\n\nÚpěl ďábelské ódy. Řeka teče přes město a děti si hrají každý den.\n"
RUSSIAN = "Поиск по графу знаний\n\nВ этой статье описан метод поиска. Точность его выше, чем была раньше.\n"
GREEK = "Αναζήτηση γνώσης\n\nΣε αυτό το άρθρο περιγράφουμε μια μέθοδο αναζήτησης. Τα αποτελέσματα είναι καλά.\n"
CHINESE = "知识图谱检索\n\n本文介绍一种检索方法。实验结果表明，该方法的准确率高于以往的方法，而且速度更快。\n"
KOREAN = "지식 그래프 검색\n\n이 논문은 검색 방법을 설명한다. 실험 결과는 정확도가 이전보다 높다는 것을 보여 준다.\n"
TURKISH = "Bilgi grafiği\n\nBu çalışmada arama yöntemi anlatılıyor. Sonuçlar doğruluğun arttığını gösteriyor.\n"

WRITTEN = [
    *[(JAPANESE, name) for name in ("shift_jis", "cp932", "euc_jp", "iso2022_jp", "utf-8", "utf-8-sig")],
    *[(SHORT_JAPANESE, name) for name in ("shift_jis", "euc_jp", "iso2022_jp", "utf-8")],
    *[(GERMAN, name) for name in ("cp1252", "latin-1", "iso8859_15", "utf-8", "mac_roman", "cp850")],
    *[(FRENCH, name) for name in ("cp1252", "utf-8")],
    *[(POLISH, name) for name in ("cp1250", "iso8859_2", "utf-8")],
    *[(CZECH, name) for name in ("cp1250", "iso8859_2")],
    *[(RUSSIAN, name) for name in ("cp1251", "koi8_r", "utf-8")],
    *[(GREEK, name) for name in ("cp1253", "iso8859_7")],
    *[(TURKISH, name) for name in ("cp1254",)],
    *[(CHINESE, name) for name in ("gb18030", "big5", "utf-8")],
    *[(KOREAN, name) for name in ("euc_kr", "cp949", "utf-8")],
]
WIDE = [
    (text, name) for text in (JAPANESE, GERMAN, RUSSIAN, CHINESE, SHORT_JAPANESE) for name in ("utf-16-le", "utf-16-be")
]
MARKS = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}


def decoded(data: bytes) -> str:
    return decode(data, ParseSettings())[0]


@pytest.mark.parametrize(("text", "encoding"), WRITTEN)
def test_round_trips(text: str, encoding: str) -> None:
    text = text.encode(encoding, "ignore").decode(encoding)
    assert decoded(text.encode(encoding)) == text


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(("text", "encoding"), WIDE)
def test_utf_16(text: str, encoding: str, marked: bool) -> None:
    assert decoded((MARKS[encoding] if marked else b"") + text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [JAPANESE, GERMAN])
def test_utf_32(text: str, encoding: str) -> None:
    mark = codecs.BOM_UTF32_LE if encoding.endswith("le") else codecs.BOM_UTF32_BE
    assert decoded(mark + text.encode(encoding)) == text


@pytest.mark.parametrize("encoding", ["shift_jis", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16"])
def test_a_japanese_paper_in_any_encoding_is_the_same_paper(encoding: str) -> None:
    paper = parse_text(JAPANESE.encode(encoding), ParseSettings())
    assert (paper.title, paper.language) == ("知識グラフによる検索", "ja")
    assert [section.section_type for section in paper.sections] == ["introduction", "results"]


def test_english_with_a_few_other_letters() -> None:
    for text, encoding in (
        ("The naïve café “quotes” a résumé. " * 20, "cp1252"),
        ("A paper on μ-opioid receptors at 37 °C ± 2. " * 20, "latin-1"),
        ("We thank 山田太郎 for the data. " * 20, "shift_jis"),
        ("We thank 山田太郎 for the data. " * 20, "euc_jp"),
        ("Łukasz Żółć wrote this English paper. " * 20, "utf-16-le"),
    ):
        assert decoded(text.encode(encoding, "ignore")) == text.encode(encoding, "ignore").decode(encoding)


def test_long_text_decides_by_all_of_it() -> None:
    """The first letter that is no ASCII may come late."""
    text = "An English sentence stands here. " * 20_000 + "検索の話である。グラフを使う。" * 20
    for encoding in ("shift_jis", "euc_jp", "utf-8"):
        assert decoded(text.encode(encoding)) == text


BINARY = [
    random.Random(3).randbytes(5000),
    b"\x89PNG\r\n\x1a\n" + random.Random(4).randbytes(500),
    b"\x7fELF\x02\x01" + bytes(99),
    b"\x1f\x8b\x08" + random.Random(5).randbytes(3000),
    b"PK\x03\x04" + bytes(50),
    b"%PDF-1.4\n",
    b"\xd0\xcf\x11\xe0" * 9,
]


@pytest.mark.parametrize("data", BINARY)
def test_what_is_no_text(data: bytes) -> None:
    with pytest.raises(MalformedDocument):
        decoded(data)


def _holds(data: bytes) -> None:
    try:
        text = decoded(data)
    except DocumentError:
        return
    assert text.strip() and text == unicodedata.normalize("NFC", text)
    assert not any(c in text for c in "\r\x00\ufeff")
    text.encode()


@given(st.binary(max_size=400))
@examples(600)
def test_any_bytes(data: bytes) -> None:
    _holds(data)


PREFIXES = [
    b"",
    b"\xff\xfe",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\xff\xfe\x00\x00",
    b"\x00\x00\xfe\xff",
    b"\x1b$B",
    b"\x1b(J",
]
CODECS = ["utf-8", "shift_jis", "euc_jp", "iso2022_jp", "utf-16-le", "utf-16-be", "cp1252", "gb18030", "utf-7", "hz"]


@given(st.sampled_from(PREFIXES), st.text(max_size=200), st.sampled_from(CODECS), st.data())
@examples(600)
def test_damaged_text(prefix: bytes, text: str, codec: str, data: st.DataObject) -> None:
    encoded = bytearray(prefix + text.encode(codec, "ignore"))
    for _ in range(data.draw(st.integers(0, 4))):
        if encoded:
            encoded[data.draw(st.integers(0, len(encoded) - 1))] = data.draw(st.integers(0, 255))
    _holds(bytes(encoded[: data.draw(st.integers(0, len(encoded)))]))
