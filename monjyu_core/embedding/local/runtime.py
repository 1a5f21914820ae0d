"""OpenVINO, imported without its telemetry. Nothing else in this project imports it.

On import OpenVINO reports to Google Analytics and writes a client id into the home directory, unless the package
`openvino-telemetry` is absent: then it takes a stub of its own. So that package is hidden while OpenVINO is imported.
"""

from __future__ import annotations

import sys
from typing import Any, cast

_TELEMETRY = "openvino_telemetry"
_modules = cast("dict[str, Any]", sys.modules)
_before = _modules.get(_TELEMETRY)
_modules[_TELEMETRY] = None
try:
    import openvino as ov
    from openvino import opset15 as op
finally:
    if _before is None:
        del _modules[_TELEMETRY]
    else:
        _modules[_TELEMETRY] = _before

__all__ = ["op", "ov"]
