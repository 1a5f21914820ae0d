"""Titles, tags and suggestions that chat programs ask for in the words of their releases, and questions that look like
them."""

from __future__ import annotations

import json

import pytest

from monjyu_query.service.chat_api.openai_models import (
    LONGEST_TURN,
    MOST_TURNS,
    ChatRequest,
    chore_reply,
    question_in,
    search_request,
)
from tests.limits import ends

QUESTION = "How long is the alpine lake frozen each winter?"
TITLE = "How long is the alpine lake frozen each"
ASKED, ANSWERED = ("user", QUESTION), ("assistant", "141 days [1].")
HISTORY = f"### Chat History:\n<chat_history>\nUSER: {QUESTION}\nASSISTANT: 141 days [1].\n</chat_history>"
OPEN_WEBUI = {
    "title": "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### "
    "Guidelines:\n- The "
    'title should clearly represent the main theme.\n### Output:\nJSON format: { "title": "your concise title here" }\n'
    '### Examples:\n- { "title": "📉 Stock Market Trends" }\n' + HISTORY,
    "tags": "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history, along with "
    "1-3 more specific "
    'subtopic tags.\n### Output:\nJSON format: { "tags": ["tag1", "tag2", "tag3"] }\n' + HISTORY,
    "follow_ups": "### Task:\nSuggest 3-5 relevant follow-up questions or prompts that the user might naturally "
    "ask next.\n"
    '### Output:\nJSON format: { "follow_ups": ["Question 1?", "Question 2?"] }\n' + HISTORY,
    "queries": "### Task:\nAnalyze the chat history to determine the necessity of generating search "
    "queries.\n### Output:\n"
    'Strictly return in JSON format: \n{\n  "queries": ["query1", "query2"]\n}\n' + HISTORY,
    "text": "### Task:\nYou are an autocompletion system. Continue the text in `<text>`.\n### Output\nJSON format: "
    '{ "text": "<completion>" }\n<type>Search Query</type><text>How long</text>',
}
TITLES = {
    "LibreChat": [
        ("user", "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. "
         "Only return "
         f"the title itself.\n\nConversation:\nUser: {QUESTION}\nAI: 141 days [1]."),
    ],
    "LibreChat, before": [
        ("system", "Detect user language and write in the same language an extremely concise title for this "
         "conversation, "
         f'which you must accurately detect.\n\n||>User:\n"{QUESTION}"\n||>Response:\n"141 days"'),
        ASKED,
    ],
    "NextChat": [
        ASKED, ANSWERED,
        ("user", "Please generate a four to five word title summarizing our conversation without any lead-in, "
         "punctuation, "
         "quotation marks, periods, symbols, bold text, or additional text."),
    ],
    "LobeChat": [
        ("system", "You are a professional conversation summarizer. Generate a concise title that captures the "
         "essence of "
         "the conversation.\n\nRules:\n- Output ONLY the title text"),
        ("user", f"user: {QUESTION}\nassistant: 141 days"),
    ],
    "Cherry Studio": [
        ("system", "You are an assistant skilled in conversation. You need to summarize the user's conversation "
         "into a title "
         "within 10 words."),
        ("user", json.dumps([{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "141 days"}])),
    ],
    "Cherry Studio, Chinese": [
        ("system", "你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题"), ASKED,
    ],
    "Jan": [
        ("user", f'Summarize in a 10-word Title. Give the title only. Here is the message: "User: '
         f'{QUESTION}"\nUser: {QUESTION}'),
    ],
    "Chatbox": [
        ("user", "Based on the chat history, give this conversation a name.\nKeep it short - 10 characters max, "
         "no quotes.\n"
         f"Just provide the name, nothing else.\n\n```\nUser: {QUESTION}\n---------\nAssistant: 141 days\n```"),
    ],
    "a person": [ASKED, ANSWERED, ("user", "Give this chat a title, please.")],
    "Japanese": [ASKED, ANSWERED, ("user", "この会話に短いタイトルを付けてください。")],
}  # fmt: skip


@pytest.mark.parametrize("wanted", OPEN_WEBUI)
def test_tasks_of_open_webui_get_the_json_that_they_ask_for(wanted: str) -> None:
    reply = chore_reply([("user", OPEN_WEBUI[wanted])], "ice")
    assert reply is not None
    expected = {"title": TITLE, "tags": ["ice"], "follow_ups": [], "queries": [], "text": ""}
    assert json.loads(reply) == {wanted: expected[wanted]}


@pytest.mark.parametrize("program", TITLES)
def test_a_title_is_that_of_the_first_question(program: str) -> None:
    assert chore_reply(TITLES[program], "ice") == TITLE


@pytest.mark.parametrize(
    "messages",
    [
        [ASKED],
        [ASKED, ANSWERED, ("user", "And how long was it in 1971?")],
        [("user", "How do programs generate a title for this conversation?")],
        [("user", "Summarize the papers on dialogue titles and tags.")],
        [ASKED, ANSWERED, ("user", "Give the title of the paper and summarize its discussion.")],
        [ASKED, ANSWERED, ("user", "Name the topics that the papers discuss.")],
        [ASKED, ANSWERED, ("user", "Give the names of the methods in a few words.")],
        [("system", "You are a helpful assistant. Give titles of papers in full. Answer the user's question."), ASKED],
        [("user", "What do papers on chat systems say of tags?\n\nContext: a review.")],
        [ASKED, ANSWERED, ("user", "会話システムの論文はありますか？")],
        [("assistant", "Hello!"), ("user", "")],
    ],
)
def test_questions_are_searched(messages: list[tuple[str, str]]) -> None:
    assert chore_reply(messages, "ice") is None


def test_the_question_in_what_a_program_wrote_around_it() -> None:
    source = '<context>\n<source id="1">x</source>\n</context>\n'
    around = f"### Task:\nRespond to the user query using the provided context.\n{source}"
    for message in (f"{around}<user_query>\n{QUESTION}\n</user_query>", f"{around}\n{QUESTION}"):
        assert question_in(message) == QUESTION
        assert chore_reply([("user", message)], "ice") is None
    assert question_in(QUESTION) == QUESTION


def test_a_message_full_of_tags_is_read_to_its_end() -> None:
    ends(lambda: question_in("Task: " + "<user_query>" * 200_000))


def test_a_long_chat_is_cut_to_what_counts() -> None:
    said = [{"role": role, "content": f"{n} " * 5000} for n in range(200) for role in ("user", "assistant", "system")]
    asked = ChatRequest.model_validate({"model": "ice", "messages": [*said, {"role": "user", "content": QUESTION}]})
    request = search_request(asked)
    assert request.query == QUESTION
    assert len(request.history) == MOST_TURNS
    assert all(len(turn.content) <= LONGEST_TURN and turn.role != "system" for turn in request.history)
    assert request.history[-1].content.startswith("199 ")
