"""OpenVINO, imported without its telemetry and its converter. Nothing else in this project imports it.

On import OpenVINO reports to Google Analytics and writes a client id into the home directory, unless the package
`openvino-telemetry` is absent: then it takes a stub of its own. It also imports its converter of other frameworks'
models, unless that is absent: half of its time. So both are hidden while OpenVINO is imported.
"""

from __future__ import annotations

import sys
from typing import Any, cast

_modules = cast("dict[str, Any]", sys.modules)
_HIDDEN = ("openvino_telemetry", "openvino.tools.ovc")
_before = {name: _modules.get(name) for name in _HIDDEN}
_modules.update(dict.fromkeys(_HIDDEN))
try:
    import openvino as ov
    from openvino import opset15 as op
finally:
    for _name, _module in _before.items():
        if _module is None:
            del _modules[_name]
        else:
            _modules[_name] = _module

__all__ = ["op", "ov"]
