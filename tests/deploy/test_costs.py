"""docs/scale.md shows what bench/monthly_cost.py computes from the prices it shows."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("monthly_cost", ROOT / "bench" / "monthly_cost.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


def test_the_page_has_the_table_of_these_prices() -> None:
    costs = script()
    assert costs.table(costs.PRICES) in PAGE
    shown = {name: float(price) for name, price in re.findall(r"^\| `(\w+)`: .* \| ([\d.]+) \|$", PAGE, re.MULTILINE)}
    assert shown == costs.PRICES
    assert costs.table(costs.PRICES | {"vcpu_hour": 1.0}) not in PAGE
