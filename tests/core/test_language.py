"""Language of a text: script first, then words; never the model where it is not needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from monjyu_core.text.language import detect_language
from tests.conftest import CORPORA, needs_corpora
from tests.properties import given, st

ENGLISH = (
    "Graphs of noun phrases help retrieval when the question is broad. We show that the cost of an index without a "
    "language model is small, and that the answers are as good as those of systems which summarise everything."
)
GERMAN = "Wir zeigen, dass ein Graph aus Nominalphrasen die Suche verbessert, wenn die Frage allgemein gestellt ist."
FRENCH = "Nous montrons que le graphe des syntagmes nominaux améliore la recherche lorsque la question est générale."
SPANISH = "Mostramos que el grafo de sintagmas nominales mejora la búsqueda cuando la pregunta es muy general."
RUSSIAN = "Мы показываем, что граф именных групп улучшает поиск, когда вопрос задан в общем виде."
JAPANESE = "名詞句のグラフを用いると、質問が広い場合の検索が改善されることを示す。"
CHINESE = "我们证明名词短语图可以改进检索，尤其是在问题比较宽泛的情况下。"
KOREAN = "명사구 그래프가 질문이 넓을 때 검색을 개선한다는 것을 보인다."


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        (SPANISH, "es"),
        (RUSSIAN, "ru"),
        (JAPANESE, "ja"),
        (CHINESE, "zh"),
        (KOREAN, "ko"),
    ],
)
def test_languages(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "   \n", "1.5 (2019) 42", "Abstract", "BERT GPT-4", "x = y + z"])
def test_too_little_text_is_english(text: str) -> None:
    assert detect_language(text) == "en"


def test_short_japanese_is_told_by_its_script() -> None:
    assert detect_language("グラフ検索") == "ja"


def test_japanese_paper_with_an_english_abstract() -> None:
    assert detect_language(ENGLISH + "\n" + JAPANESE * 20 + "\nReferences\n" + ENGLISH) == "ja"


def test_english_paper_that_quotes_japanese() -> None:
    assert detect_language(ENGLISH * 3 + " The title is 名詞句のグラフ. " + ENGLISH) == "en"


def test_chinese_with_a_japanese_name_stays_chinese() -> None:
    assert detect_language(CHINESE * 10 + "ソニー") == "zh"


def test_long_text_is_sampled_throughout() -> None:
    assert detect_language(ENGLISH + GERMAN * 5000) == "de"


def test_plain_english_does_not_load_the_model() -> None:
    program = (
        "import sys; from monjyu_core.text.language import detect_language;"
        f"print(detect_language({ENGLISH!r}), 'py3langid' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["en", "False"]


@given(st.text())
def test_answers_a_code_for_any_text(text: str) -> None:
    assert re.fullmatch("[a-z]{2}", detect_language(text))


@needs_corpora
@pytest.mark.parametrize(("corpus", "language"), [("cranfield", "en"), ("cacm", "en"), ("jsquad", "ja")])
def test_real_documents(corpus: str, language: str) -> None:
    lines = (CORPORA / corpus / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    found = [detect_language(f"{record['title']}\n{record['text']}") for record in records]
    assert found.count(language) >= 0.998 * len(found)
