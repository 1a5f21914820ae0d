"""Models inside packages: what is not, byte for byte, the known file or folder is not loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from monjyu_core.embedding.local.packaged import checked_path
from monjyu_core.errors import ConfigurationError

FILES = {"model/weights.bin": b"1234", "model/vocab/words": b"a b", "single.onnx": b"5678"}
FOLDER_SHA256 = "cb5700273e41613722217baa66257aeded9c309617a0878994438b3eaa6aadef"
FILE_SHA256 = "f8638b979b2f4f793ddb6dbd197e0ee25a7a6ea32b0ae22f5e3c5d119d839e75"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "some_model"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    (folder / "__init__.py").write_text("raise RuntimeError('its code is not run')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    checked_path.cache_clear()
    yield folder
    checked_path.cache_clear()


def test_a_model_with_the_known_hash_is_used(package: Path) -> None:
    assert checked_path("some_model", "model", FOLDER_SHA256, "") == package / "model"
    assert checked_path("some_model", "single.onnx", FILE_SHA256, "") == package / "single.onnx"


@pytest.mark.parametrize("change", ["content", "name", "more", "less"])
def test_any_other_is_refused(package: Path, change: str) -> None:
    words = package / "model" / "vocab" / "words"
    if change == "content":
        words.write_bytes(b"a c")
    elif change == "name":
        words.rename(words.with_name("word"))
    elif change == "more":
        words.with_name("code.py").write_text("")
    else:
        words.unlink()
    with pytest.raises(ConfigurationError, match=r"damaged.*Install it again"):
        checked_path("some_model", "model", FOLDER_SHA256, "Install it again.")


def test_a_missing_one_is_said(package: Path) -> None:
    for name, inside in (("no_such_model", "model"), ("some_model", "gone.bin")):
        with pytest.raises(ConfigurationError, match="Install it"):
            checked_path(name, inside, FILE_SHA256, "Install it again.")


@pytest.mark.parametrize("which", ["spacy", "sudachi", "ocr", "office"])
def test_every_model_that_a_library_opens_by_name_is_checked(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from monjyu_assets.levels.phrases import japanese_phrases as japanese
    from monjyu_assets.parsing.formats.pdf.read import ocr_engine
    from monjyu_assets.parsing.office import partition
    from monjyu_core.embedding.local import packaged as model

    loaders: dict[str, tuple[object, str, Callable[[], object]]] = {
        "spacy": (model, "SHA256", model.load_model),
        "office": (model, "SHA256", partition.quiet.__wrapped__),
        "sudachi": (japanese, "DICTIONARY_SHA256", japanese._tokenizer.__wrapped__),
        "ocr": (ocr_engine, "_SHA256", partial(ocr_engine._model, "PP-OCRv6_det_small.onnx")),
    }
    module, name, load = loaders[which]
    other = {"PP-OCRv6_det_small.onnx": "0"} if which == "ocr" else "0"
    monkeypatch.setattr(module, name, other)
    with pytest.raises(ConfigurationError, match="damaged"):
        load()
