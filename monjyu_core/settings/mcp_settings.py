"""Settings of the MCP server: what its clients may index, and what they are given."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from monjyu_core.settings.setting_marks import Group, NoResult

SERVED = NoResult("what clients of the MCP server may do, not what is indexed")


class McpSettings(Group):
    port: Annotated[int, SERVED] = Field(8001, ge=0, le=65535, description="with --http; 0 = any free one")
    index: Annotated[bool, SERVED] = Field(True, description="clients may index what lies in `index_folders`")
    index_folders: Annotated[list[Path], SERVED] = Field(
        [], description="folders whose content clients may index; none named = papers/ of the data folder"
    )
    index_minutes: Annotated[float, SERVED] = Field(60.0, gt=0, description="until an indexing run is ended")
    most_characters: Annotated[int, SERVED] = Field(
        20_000, ge=1000, description="of a paper's text in one answer of monjyu_get_paper"
    )
