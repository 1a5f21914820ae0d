"""The response cache on SQLite and on a real Redis: paid once, durable, safe with many processes."""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from monjyu_core.errors import ConfigurationError, ExternalAPIError, StorageError
from monjyu_core.models.cache_redis import RedisCache
from monjyu_core.models.cache_sqlite import SQLiteCache
from monjyu_core.models.call_errors import ModelRefused
from monjyu_core.models.response_cache import (
    CHAT,
    VECTOR,
    Codec,
    ResponseCache,
    chat_key,
    embedding_key,
    forget_answers,
    labels_of,
    once,
    open_cache,
)
from monjyu_core.models.types import ChatReply, ChatRequest, Message, TokenUsage
from monjyu_core.settings.models import CacheSettings
from monjyu_core.storage.folders import DataFolder, host_id, new_owner
from tests.core.models.workers import CONTEXT, ask, in_processes, note, noted, reply
from tests.properties import given, st
from tests.waiting import free_port

needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="no Redis: apt-get install redis-server")
BOTH = ["sqlite", pytest.param("redis", marks=needs_redis)]


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        try:
            yield _when_up(port)
        finally:
            server.terminate()


def _when_up(port: int) -> str:
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return f"redis://127.0.0.1:{port}/0"
    raise AssertionError("redis-server did not come up")


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> CacheSettings:
    if request.param == "sqlite":
        return CacheSettings()
    from redis import Redis

    url = request.getfixturevalue("redis_url")
    Redis.from_url(url).flushall()
    return CacheSettings(redis_url=SecretStr(url))


@pytest.fixture
def cache(settings: CacheSettings, tmp_path: Path) -> Iterator[ResponseCache]:
    opened = open_cache(settings, DataFolder(tmp_path))
    assert opened is not None
    yield opened
    opened.close()


on_both = pytest.mark.parametrize("settings", BOTH, indirect=True)


@on_both
def test_values_are_kept_and_the_first_answer_stays(
    cache: ResponseCache, settings: CacheSettings, tmp_path: Path
) -> None:
    assert cache.get_many(["a"]) == {}
    cache.put_many({"a": b"1", "b": b"\x00\xff"})
    cache.put_many({"a": b"2"})
    again = open_cache(settings, DataFolder(tmp_path))
    assert again is not None
    assert again.get_many(["a", "b", "c"]) == {"a": b"1", "b": b"\x00\xff"}
    assert again.has_many(["a", "c"]) == {"a"}
    assert len(again) == 2
    cache.discard("a")
    assert again.get_many(["a"]) == {}
    many = {f"k{number}": str(number).encode() for number in range(1500)}
    cache.put_many(many)
    assert cache.get_many(list(many)) == many


@on_both
def test_only_the_newest_are_kept(settings: CacheSettings, tmp_path: Path) -> None:
    cache = open_cache(settings.model_copy(update={"max_entries": 20}), DataFolder(tmp_path))
    assert cache is not None
    for number in range(50):
        cache.put_many({f"k{number:02}": b"v"}, ["collection:c"])
    assert cache.has_many([f"k{number:02}" for number in range(50)]) == {f"k{number}" for number in range(30, 50)}
    assert cache.forget("collection:c") == 20


@on_both
def test_what_is_too_old_is_not_given_and_goes(
    settings: CacheSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(days: float) -> ResponseCache:
        cache = open_cache(settings.model_copy(update={"max_age_days": days}), DataFolder(tmp_path))
        assert cache is not None
        return cache

    now = time.time()
    with monkeypatch.context() as clock:
        clock.setattr(time, "time", lambda: now - 3 * 86_400)
        opened(0).put_many({"old": b"1", "again": b"1"}, ["collection:c"])
    opened(0).put_many({"new": b"1"}, ["collection:c"])
    assert opened(0).has_many(["old", "again", "new"]) == opened(4).has_many(["old", "again", "new"])
    limited = opened(2)
    assert limited.get_many(["old", "new"]) == {"new": b"1"} and limited.has_many(["old", "new"]) == {"new"}
    limited.put_many({"again": b"2"}, ["collection:c"])
    assert limited.get_many(["again"]) == {"again": b"2"}
    assert len(limited) == 2, "what is older went when the next was kept"
    assert limited.forget("collection:c") == 2


def test_answers_of_an_earlier_version_have_no_time(tmp_path: Path) -> None:
    path = tmp_path / "model_cache.sqlite"
    with sqlite3.connect(path) as before:
        before.execute("CREATE TABLE answers (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL)")
        before.execute("INSERT INTO answers (key, value) VALUES ('a', x'31')")
    before.close()
    assert SQLiteCache(path, 100).get_many(["a"]) == {"a": b"1"}
    limited = SQLiteCache(path, 100, max_age=60.0)
    assert limited.get_many(["a"]) == {}
    limited.put_many({"b": b"2"})
    assert len(limited) == 1


@on_both
def test_what_was_made_from_a_paper_goes_with_it(cache: ResponseCache) -> None:
    cache.put_many({"a": b"1"}, labels_of("c", ["p1"]))
    cache.put_many({"b": b"2"}, labels_of("c", ["p1", "p2"]))
    cache.put_many({"d": b"3"}, labels_of("other", ["p1"]))
    cache.put_many({"e": b"4"}, labels_of(None))
    assert cache.forget("paper:c/p2") == 1
    assert cache.has_many(list("abde")) == set("ade")
    assert cache.forget("paper:c/p2") == 0
    assert cache.forget("collection:c") == 1
    assert cache.has_many(list("abde")) == set("de")


def test_forgotten_text_is_in_no_file(tmp_path: Path) -> None:
    cache = SQLiteCache(tmp_path / "model_cache.sqlite", 100)
    cache.put_many({"a": b"a sentence of the paper" * 1000}, labels_of("c", ["p"]))
    cache.put_many({"b": b"kept"}, labels_of("c"))
    assert any(b"a sentence of the paper" in path.read_bytes() for path in tmp_path.iterdir())
    cache.forget("paper:c/p")
    assert not any(b"a sentence of the paper" in path.read_bytes() for path in tmp_path.iterdir())
    assert cache.has_many(["b"]) == {"b"}


@on_both
def test_a_claim_is_one_owners_until_released_answered_or_expired(cache: ResponseCache) -> None:
    mine, other = new_owner(), new_owner()
    assert cache.claim("k", mine, 30)
    assert cache.claim("k", mine, 30), "renewed by its owner"
    assert not cache.claim("k", other, 30)
    cache.release("k", other)
    assert not cache.claim("k", other, 30), "only its owner gives it back"
    cache.release("k", mine)
    assert cache.claim("k", other, 30)
    cache.put_many({"k": b"v"})
    assert cache.claim("k", mine, 0.05)
    time.sleep(0.1)
    assert cache.claim("k", other, 30)


@on_both
def test_the_claim_of_a_dead_process_of_this_host_holds_no_longer(cache: ResponseCache) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    assert cache.claim("k", f"{host_id()}-{dead.pid}-abc", 1000)
    assert cache.claim("k", new_owner(), 30)
    assert cache.claim("l", f"otherhost-{dead.pid}-abc", 1000)
    assert not cache.claim("l", new_owner(), 30)


@on_both
def test_fifty_processes_pay_once_for_what_they_share_and_lose_nothing(settings: CacheSettings, tmp_path: Path) -> None:
    shared = ["k1", "k2", "k3"]
    own = [[f"own-{process}-{number}" for number in range(5)] for process in range(50)]
    in_processes(ask, [(tmp_path, settings, shared + keys, 8, 0.2) for keys in own])
    assert sorted(noted(tmp_path / "made")) == sorted(shared + [key for keys in own for key in keys])
    cache = open_cache(settings, DataFolder(tmp_path))
    assert cache is not None
    assert len(cache) == 253
    assert len(cache.get_many(noted(tmp_path / "made"))) == 253


@on_both
def test_killed_during_100_calls_only_the_unfinished_are_made_again(settings: CacheSettings, tmp_path: Path) -> None:
    keys = [f"k{number}" for number in range(100)]
    worker = CONTEXT.Process(target=ask, args=(tmp_path, settings, keys, 4, 0.02))
    worker.start()
    while len(noted(tmp_path / "done")) < 40:
        assert worker.is_alive()
        time.sleep(0.005)
    worker.kill()
    worker.join()
    done, made = noted(tmp_path / "done"), noted(tmp_path / "made")
    assert len(done) < 100
    in_processes(ask, [(tmp_path, settings, keys, 4, 0.0)])
    again = noted(tmp_path / "made")[len(made) :]
    assert not set(again) & set(done)
    assert set(made) | set(again) == set(keys)
    assert len(again) <= 100 - len(done), "each unfinished call once"
    assert len(made) + len(again) - 100 <= 4, "only those under way when killed are made twice"


@on_both
def test_a_failed_call_gives_the_turn_to_the_next(cache: ResponseCache) -> None:
    calls = []

    async def make() -> ChatReply:
        calls.append(1)
        await asyncio.sleep(0.05)
        if len(calls) == 1:
            raise ModelRefused("no")
        return reply("yes")

    async def all_at_once() -> list[object]:
        five = (once(cache, "k", make, CHAT, claim_seconds=86_400) for _ in range(5))
        return await asyncio.gather(*five, return_exceptions=True)

    results = asyncio.run(asyncio.wait_for(all_at_once(), 300))  # nobody waits for a claim to expire
    assert sum(isinstance(result, ModelRefused) for result in results) == 1
    assert sorted(result[1] for result in results if isinstance(result, tuple)) == [False, True, True, True]
    assert len(calls) == 2


@on_both
def test_a_cancelled_call_gives_its_claim_back_and_a_long_one_keeps_it(cache: ResponseCache) -> None:
    async def never() -> ChatReply:
        await asyncio.sleep(60)
        raise AssertionError

    async def scenario() -> None:
        task = asyncio.create_task(once(cache, "k", never, CHAT, claim_seconds=1))
        await asyncio.sleep(1.5)
        assert not cache.claim("k", new_owner(), 1), "renewed while the call runs"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0.2)
        assert cache.claim("k", new_owner(), 1), "given back, and renewed no more"

    asyncio.run(scenario())


@pytest.mark.parametrize("step", range(4))
def test_cancelled_at_any_step_no_claim_is_left(tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store looks, claims, looks again and puts; one of these steps waits here for the cancellation."""
    cache, looking = (SQLiteCache(tmp_path / "model_cache.sqlite", 100) for _ in range(2))
    cache.put_many({"other": b"1"})
    looking.put_many({"another": b"1"})
    steps, midway, cancelled = iter(range(4)), threading.Event(), threading.Event()

    def waiting(work: Callable[..., Any]) -> Callable[..., Any]:
        def begun(*arguments: Any) -> Any:
            if next(steps, None) == step:
                midway.set()
                assert cancelled.wait(300)
            return work(*arguments)

        return begun

    for name in ("get_many", "claim", "put_many"):
        monkeypatch.setattr(cache, name, waiting(getattr(cache, name)))

    async def make() -> ChatReply:
        return reply("paid")

    async def scenario() -> None:
        task = asyncio.create_task(once(cache, "k", make, CHAT))
        assert await asyncio.to_thread(midway.wait, 300)
        task.cancel()
        await asyncio.sleep(0)
        cancelled.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert looking.has_many(["k"]) == ({"k"} if step == 3 else set()), "what was paid is kept"
        await asyncio.sleep(0.15)
        assert looking.claim("k", new_owner(), 1)

    asyncio.run(scenario())


def test_what_is_not_to_be_kept_is_not_and_damaged_values_are_made_anew(tmp_path: Path) -> None:
    cache = SQLiteCache(tmp_path / "model_cache.sqlite", 100)
    whole = Codec(lambda made: CHAT.write(made) if made.finish == "stop" else None, CHAT.read)
    cut = replace(reply("half"), finish="length")

    async def ask_for(answer: ChatReply) -> tuple[ChatReply, bool]:
        async def make() -> ChatReply:
            return answer

        return await once(cache, "k", make, whole)

    assert asyncio.run(ask_for(cut)) == (cut, False)
    assert asyncio.run(ask_for(reply("full"))) == (reply("full"), False)
    assert asyncio.run(ask_for(cut)) == (reply("full"), True)
    cache.discard("k")
    cache.put_many({"k": b'{"text": 3}'})
    assert asyncio.run(ask_for(reply("new"))) == (reply("new"), False)
    assert asyncio.run(ask_for(cut)) == (reply("new"), True)


@pytest.mark.parametrize("damage", ["overwritten", "middle", "empty"])
def test_a_damaged_file_costs_only_what_it_held(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "model_cache.sqlite"
    first = SQLiteCache(path, 10_000)
    first.put_many({f"k{number}": b"v" * 500 for number in range(200)})
    first.close()
    content = bytearray(path.read_bytes())
    if damage == "overwritten":
        content[:200] = b"\x07" * 200
    elif damage == "middle":
        content[4096:] = b"\x07" * (len(content) - 4096)
    else:
        content = bytearray()
    path.write_bytes(content)
    caches = [SQLiteCache(path, 10_000) for _ in range(3)]
    for cache in caches:
        cache.put_many({"new": b"1"})
        assert cache.get_many(["new"]) == {"new": b"1"}
    assert len({cache.path for cache in caches}) == 1
    if damage != "empty":
        assert caches[0].path.name == "model_cache-2.sqlite"
        assert "damaged" in caplog.text
        caches[0].forget("collection:c")
        assert not path.exists(), "a damaged file may hold forgotten text"
    assert SQLiteCache(path, 10_000).get_many(["new"]) == {"new": b"1"}


def test_a_store_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be used"):
        SQLiteCache(tmp_path / "file" / "model_cache.sqlite", 10).get_many(["a"])
    locked = SQLiteCache(tmp_path / "model_cache.sqlite", 10)
    locked.put_many({"a": b"1"})
    holder = sqlite3.connect(locked.path)
    holder.execute("BEGIN IMMEDIATE")
    assert locked.get_many(["a"]) == {"a": b"1"}, "a reader waits for no writer"
    holder.close()


def test_no_redis_is_a_clear_error_without_the_password() -> None:
    with pytest.raises(ExternalAPIError) as caught:
        RedisCache("redis://:hunter2@127.0.0.1:1/0", 10).get_many(["a"])
    assert caught.value.exit_code == 3
    assert "127.0.0.1" in str(caught.value) and "hunter2" not in str(caught.value)
    with pytest.raises(ConfigurationError):
        RedisCache("http://:hunter2@127.0.0.1:1/0", 10)


def test_answers_are_forgotten_also_while_caching_is_off(tmp_path: Path) -> None:
    data = DataFolder(tmp_path)
    assert forget_answers(CacheSettings(), data, "collection:c") == 0
    assert not (tmp_path / "state").exists(), "nothing is made where nothing was"
    SQLiteCache(data.state / "model_cache.sqlite", 10).put_many({"a": b"1"}, labels_of("c"))
    assert forget_answers(CacheSettings(enabled=False), data, "collection:c") == 1


@needs_redis
def test_answers_are_forgotten_in_both_stores(tmp_path: Path, redis_url: str) -> None:
    data, settings = DataFolder(tmp_path), CacheSettings(redis_url=SecretStr(redis_url))
    for chosen in (settings, CacheSettings()):
        cache = open_cache(chosen, data)
        assert cache is not None
        cache.put_many({"a": b"1"}, labels_of("both"))
    assert forget_answers(settings, data, "collection:both") == 2


def test_no_cache_where_it_is_off(tmp_path: Path) -> None:
    assert open_cache(CacheSettings(enabled=False), DataFolder(tmp_path)) is None


REQUEST = ChatRequest((Message("system", "s"), Message("user", "u")), 100, schema={"type": "object"})


def _key(request: ChatRequest = REQUEST, identity: str = "openai a m", **other: str) -> str:
    parts = {"role": "answer", "prompt_hash": "p", "code_version": "1"} | other
    return chat_key(identity, request, **parts)  # type: ignore[arg-type]


def test_a_key_depends_on_all_that_an_answer_depends_on() -> None:
    keys = [
        _key(),
        _key(identity="openai b m"),
        _key(role="assess"),
        _key(prompt_hash="q"),
        _key(code_version="2"),
        _key(replace(REQUEST, max_tokens=101)),
        _key(replace(REQUEST, temperature=0.5)),
        _key(replace(REQUEST, seed=0)),
        _key(replace(REQUEST, schema=None)),
        _key(replace(REQUEST, schema={"type": "array"})),
        _key(replace(REQUEST, messages=REQUEST.messages[:1])),
        _key(replace(REQUEST, messages=REQUEST.messages[::-1])),
        _key(replace(REQUEST, messages=(Message("system", "su"), Message("user", "")))),
        embedding_key("openai a m", "s", code_version="1"),
        embedding_key("openai a m", "t", code_version="1"),
        embedding_key("openai a m", "\ud800", code_version="1"),
    ]
    assert len(set(keys)) == len(keys)
    assert _key() == _key(replace(REQUEST, schema={"type": "object"}))


@given(st.text(), st.integers(0, 2**31), st.booleans(), st.sampled_from(["stop", "length", "content_filter"]))
def test_replies_come_back_as_they_were(text: str, tokens: int, estimated: bool, finish: str) -> None:
    made = ChatReply(text, finish, TokenUsage(tokens, tokens, estimated), text)  # type: ignore[arg-type]
    written = CHAT.write(made)
    assert written is not None
    assert CHAT.read(written) == made


@given(st.lists(st.floats(allow_nan=False) | st.floats(width=32, allow_nan=False), min_size=1))
def test_vectors_come_back_as_they_were(vector: list[float]) -> None:
    written = VECTOR.write(vector)
    assert written is not None
    assert VECTOR.read(written) == vector


@given(st.binary(max_size=60))
def test_foreign_bytes_are_nothing_cached(value: bytes) -> None:
    assert CHAT.read(value) is None
    read = VECTOR.read(value)
    assert read is None or len(read) * (4 if value[:1] == b"f" else 8) == len(value) - 1


@on_both
def test_what_many_threads_write_is_there(cache: ResponseCache, tmp_path: Path) -> None:
    def put(number: int) -> None:
        cache.put_many({f"t{number}": b"v"})
        note(tmp_path / "put", f"t{number}")

    async def all_at_once() -> None:
        await asyncio.gather(*(asyncio.to_thread(put, number) for number in range(100)))

    asyncio.run(all_at_once())
    assert len(cache) == len(noted(tmp_path / "put")) == 100


def test_without_the_client_of_redis_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ConfigurationError, match=r"cache\.redis_url is set.*Install it: .*redis<9,>=8"):
        RedisCache("redis://127.0.0.1:6379/0", 10)
