"""Questions in five languages over papers in the same: answered from them, cited, and never in Japanese."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monjyu_query import Monjyu
from tests.assets.worlds import World

PAPERS = {
    "de-see.md": "# Eisbedeckung eines Bergsees\n\nSøren Sørensen, Jürgen Groß\n\n2018\n\n## Zusammenfassung\n\n"
    "Der Bergsee ist im Mittel an 141 Tagen im Winter zugefroren. Die Dauer nahm um 12 Tage je Jahrzehnt ab.\n\n"
    "## Ergebnisse\n\nDie Schneehöhe erklärte 63 Prozent der Varianz der Eisdicke.\n",
    "de-bienen.md": "# Wildbienen auf Brachen\n\nHans Müller\n\n2020\n\n## Zusammenfassung\n\n"
    "Auf den Brachen wurden 58 Arten von Wildbienen gefangen. Die häufigste Art war die Gemeine Sandbiene.\n",
    "zh-lake.md": "# 高山湖泊的冰期\n\n李明\n\n2019\n\n## 摘要\n\n"
    "高山湖泊每年冬天平均结冰一百四十一天。冰期每十年缩短十二天。\n\n"
    "## 结果\n\n积雪深度解释了冰厚变异的百分之六十三。\n",
    "zh-bees.md": "# 城市公园的野蜂\n\n王芳\n\n2021\n\n## 摘要\n\n在城市公园中共采集到五十八种野蜂。最常见的是地蜂。\n",
    "ko-lake.md": "# 고산 호수의 결빙\n\n김철수\n\n2019\n\n## 초록\n\n"
    "고산 호수는 겨울마다 평균 141일 동안 얼어 있다. "
    "결빙 기간은 십 년마다 12일 줄었다.\n\n## 결과\n\n적설 깊이는 얼음 두께 변동의 63퍼센트를 설명했다.\n",
    "ko-bees.md": "# 도시 공원의 야생벌\n\n박영희\n\n2021\n\n## 초록\n\n"
    "도시 공원에서 야생벌 58종을 채집했다. 가장 흔한 종은 애꽃벌이었다.\n",
    "hi-lake.md": "# पहाड़ी झील की बर्फ\n\nराम शर्मा\n\n2021\n\n## सारांश\n\n"
    "झील हर सर्दी में औसतन एक सौ इकतालीस दिन जमी रहती है। बर्फ की अवधि हर दशक बारह दिन घटी।\n",
    "hi-bees.md": "# शहर के उद्यानों की मधुमक्खियाँ\n\nसीता वर्मा\n\n2020\n\n## सारांश\n\n"
    "शहर के उद्यानों में मधुमक्खियों की अट्ठावन प्रजातियाँ पकड़ी गईं। सबसे आम प्रजाति भूमि मधुमक्खी थी।\n",
    "ar-lake.md": "# جليد بحيرة جبلية\n\nأحمد علي\n\n2020\n\n## الملخص\n\n"
    "تتجمد البحيرة الجبلية في المتوسط 141 يوما كل شتاء. "
    "تقلصت مدة الجليد 12 يوما في كل عقد.\n",
    "ar-bees.md": "# النحل البري في حدائق المدينة\n\nليلى حسن\n\n2021\n\n## الملخص\n\n"
    "جُمع من حدائق المدينة 58 نوعا من النحل البري. كان نحل الرمال أكثرها شيوعا.\n",
}
QUESTIONS = {
    "de-see": ("Wie lange ist der Bergsee im Winter zugefroren?", "141 Tagen"),
    "de-bienen": ("Wie viele Arten von Wildbienen wurden auf den Brachen gefangen?", "58 Arten"),
    "zh-lake": ("高山湖泊冬天结冰多少天？", "一百四十一天"),
    "zh-bees": ("城市公园里采集到多少种野蜂？", "五十八种"),
    "ko-lake": ("고산 호수는 겨울에 얼마나 얼어 있는가?", "141일"),
    "ko-bees": ("도시 공원에서 채집한 야생벌은 몇 종인가?", "58종"),
    "hi-lake": ("झील हर सर्दी में कितने दिन जमी रहती है?", "एक सौ इकतालीस दिन"),
    "hi-bees": ("शहर के उद्यानों में मधुमक्खियों की कितनी प्रजातियाँ पकड़ी गईं?", "अट्ठावन"),
    "ar-lake": ("كم يوما تتجمد البحيرة الجبلية كل شتاء؟", "141 يوما"),
    "ar-bees": ("كم نوعا من النَّحل البري جُمِع من حدائق المدينة؟", "58 نوعا"),
}
"""By the beginning of the paper's id: a question, and what the cited passage says."""


@pytest.fixture(scope="module")
def monjyu(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Monjyu]:
    world = World.of(tmp_path_factory.mktemp("languages"), PAPERS)
    with Monjyu(world.data.root) as opened:
        yield opened


@pytest.mark.parametrize("paper", QUESTIONS)
def test_a_question_in_the_language_of_the_papers(monjyu: Monjyu, paper: str) -> None:
    question, says = QUESTIONS[paper]
    for mode in ("hybrid", "keyword"):
        found = monjyu.search(question, mode=mode)
        assert found.status == "complete", (mode, found.answer)
        assert found.verified and found.citations[0].paper_id.startswith(paper)
        assert says in found.citations[0].quote
        assert not {"この", "「", "（"} & set(found.answer) and "another language" not in str(found.warnings)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Wie lange ist die Quelle der Donau mit Algen bedeckt?", ("Wie", "lange", "ist", "mit")),
        ("多瑙河的源头有多少藻类？", ("多少", "このコレクション")),
        ("다뉴브 강의 수원에는 얼마나 많은 조류가 있는가?", ("얼마나", "있는가", "このコレクション")),
        ("डेन्यूब नदी के स्रोत में कितने शैवाल हैं?", ("कितने", "हैं", "में")),
        ("كم نوعا من الطحالب في منبع نهر الدانوب؟", ("“كم”", "“من”", "“في”")),
    ],
)
def test_function_words_are_not_what_is_missing(monjyu: Monjyu, question: str, words: tuple[str, ...]) -> None:
    found = monjyu.search(question)
    assert found.status != "complete"
    [first, *_] = found.answer.split("\n")
    assert not [word for word in words if word in first]


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword", "lazy", "auto"])
@pytest.mark.parametrize("question", ["the of and to in a is that", "wie ist das", "这是什么", "इस में क्या है"])
def test_a_question_of_function_words_alone_has_no_answer(monjyu: Monjyu, question: str, mode: str) -> None:
    found = monjyu.search(question, mode=mode)
    assert found.status == "abstained" and not found.citations
    assert found.answer.endswith("the question has no content words.")


@pytest.mark.parametrize("name", ["Sorensen", "SOERENSEN", "Gross", "Muller", "Mueller", "शर्मा", "أَحمد"])
def test_an_author_is_found_without_the_letters_of_the_name(monjyu: Monjyu, name: str) -> None:
    assert len({hit.paper_id for hit in monjyu.search("141", filters={"authors": [name]}, answer=False).hits}) == 1


LAKE = (
    "# Ice cover of an alpine lake\n\nMaria Lopez\n\n2019\n\n## Abstract\n\n"
    "The alpine lake freezes on average for 141 days each winter. Snow depth explained the variance in ice thickness.\n"
)
FROGS = "# Frogs\n\nAda Frog\n\n2015\n\n## Abstract\n\nSeventeen frogs called 14 times per minute in warm ponds.\n"


@pytest.fixture
def english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    world = World.of(tmp_path, {"lake.md": LAKE, "frogs.md": FROGS, "copies/frogs again.md": FROGS})
    monkeypatch.setenv("MONJYU_DATA", str(world.data.root))
    return world


def test_a_question_in_another_language_says_so_once_and_names_the_setting(english: World) -> None:
    with Monjyu(english.data.root) as monjyu:
        for mode in ("hybrid", "keyword", "lazy"):
            found = monjyu.search("Wie lange ist der Bergsee im Winter zugefroren?", mode=mode)
            [said] = [text for text in found.warnings if "embedding.model" in text]
            assert "another language (de) than the papers (en)" in said
            assert found.status != "complete" and not {"Wie", "lange", "“Bergsee”"} & set(found.answer.split())
        assert not monjyu.search("How long is the alpine lake frozen each winter?").warnings
        assert monjyu.search("How many frogs called in ponds?").status == "complete"


def test_equal_files_are_one_paper_and_a_former_id_leads_to_it(english: World) -> None:
    reasons = sorted((row["reason"], row["paper_id"][:4]) for row in english.tables()["paper_identity"])
    assert reasons == [("canonical", "frog"), ("only", "lake"), ("same_file", "frog")]
    [former] = [row["paper_id"] for row in english.tables()["papers"] if row["paper_id"].startswith("lake")]
    (english.papers / "lake.md").rename(english.papers / "waters.md")
    english.build()
    with Monjyu(english.data.root) as monjyu:
        assert monjyu.paper(former).paper_id.startswith("waters")
        found = monjyu.search("How long does the lake freeze?", filters={"paper_ids": [former]})
        assert found.citations[0].paper_id.startswith("waters")
