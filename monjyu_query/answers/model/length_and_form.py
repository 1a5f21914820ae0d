"""How long an answer by a model shall be and in which form, in words for its prompt."""

from __future__ import annotations

from monjyu_query.answers.segments import AnswerForm
from monjyu_query.asking.request import ResponseType

SENTENCES = 5
"""At most, of an answer of the usual length."""
_LENGTH = {
    "en": ("Answer in one or two full sentences.", "Answer in one to {most} full sentences."),
    "ja": ("一文か二文で答えてください。", "一文から{most}文までで答えてください。"),
}
_WISHES: dict[ResponseType, dict[str, str]] = {
    "short": {"en": "", "ja": ""},
    "paragraphs": {
        "en": "Write paragraphs, one for each part of the answer, with an empty line between them.",
        "ja": "答えの部分ごとに段落を分け、段落のあいだに空行を置いてください。",
    },
    "list": {"en": "Write a list, one full sentence an item.", "ja": "箇条書きで、一項目に一文を書いてください。"},
    "table": {
        "en": "Write one full sentence for each paper, each on a line of its own.",
        "ja": "論文ごとに一文を、それぞれ一行に書いてください。",
    },
    "report": {
        "en": "Write a report: a heading (a line that begins with ##) and a paragraph for each theme.",
        "ja": "テーマごとに見出し（## で始まる行）と段落を置いた報告を書いてください。",
    },
}
_FORMS: dict[AnswerForm, dict[str, str]] = {
    "fact": {
        "en": "Give the fact first, then what qualifies it.",
        "ja": "まず答えとなる事実を、次に条件や補足を書いてください。",
    },
    "number": {
        "en": "Give the figure first, with its unit, what it was measured on and by whom.",
        "ja": "まず数値を、単位・対象・誰の測定かとともに書いてください。",
    },
    "definition": {
        "en": "Define it in one sentence, then add what the papers add.",
        "ja": "まず一文で定義し、次に論文が加えていることを書いてください。",
    },
    "reasons": {
        "en": "Give each reason in a sentence of its own, the weightiest first.",
        "ja": "理由を一つずつ、重要なものから書いてください。",
    },
    "steps": {
        "en": "Give the steps in their order, as a numbered list.",
        "ja": "手順を順番どおりに、番号付きの箇条書きで書いてください。",
    },
    "yes_no": {
        "en": "Begin with the answer (yes, no, or it depends), then the evidence for it and against it.",
        "ja": "まず結論（はい、いいえ、場合による）を、次に賛否それぞれの根拠を書いてください。",
    },
    "comparison": {
        "en": "Compare point by point and name both sides in each sentence.",
        "ja": "論点ごとに、両者の名を挙げて比べてください。",
    },
    "papers": {
        "en": "Name one paper a sentence and what it has to do with the question.",
        "ja": "一文に一つの論文を挙げ、質問との関わりを書いてください。",
    },
    "survey": {
        "en": "Bring together what several papers say, theme by theme, and name the papers.",
        "ja": "複数の論文が述べていることをテーマごとにまとめ、論文の名を挙げてください。",
    },
    "exploration": {
        "en": "Bring together what the papers say and name them where they differ.",
        "ja": "論文が述べていることをまとめ、違いがあれば論文の名を挙げてください。",
    },
}


_STYLE = {
    "en": "Write it in this form, as far as the rules allow: {style}.",
    "ja": "規則の範囲で、次の形で書いてください：{style}。",
}


def wished(
    response_type: ResponseType | None, form: AnswerForm | None, language: str, sentences: int, style: str = ""
) -> str:
    """Length, form and order of an answer, for the prompt; `style` is the user's own wish."""
    short, usual = _LENGTH[language]
    if style:
        return f"{usual.format(most=sentences)} {_STYLE[language].format(style=style)}"
    length = short if response_type == "short" else usual.format(most=sentences)
    order = _FORMS[form][language] if form and response_type not in {"short", "table"} else ""
    wish = _WISHES[response_type][language] if response_type else ""
    return " ".join(filter(None, (length, order, wish)))
