"""Modules that are hidden while a library is imported."""

import subprocess
import sys

import pytest

from monjyu_core.extras import hidden


def test_a_hidden_module_cannot_be_imported_and_comes_back() -> None:
    import wave as found

    with hidden("wave", "wave_of_nobody"), pytest.raises(ImportError):
        import wave  # noqa: F401
    assert sys.modules["wave"] is found
    assert "wave_of_nobody" not in sys.modules


def test_neither_a_converter_nor_a_drawing_library_is_imported() -> None:
    code = (
        "import sys, monjyu_core.embedding.local.runtime; from monjyu_assets.levels.graph import phrase_communities; "
        "phrase_communities._library(); "
        "print([name for name in ('openvino.tools.ovc', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
