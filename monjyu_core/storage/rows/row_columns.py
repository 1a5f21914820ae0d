"""Columns that rows of several kinds have, and the rules of all rows.

A record's docstring says what a row is; a column's annotation what it says, in which unit, and what null means. Keys
first, as everywhere. `_id`s are stable over runs; `ord` counts from 0 in reading order; pages count from 1; `start` and
`end` are character offsets. A column that may be empty says `| None`.
"""

from __future__ import annotations

from typing import Annotated

from monjyu_core.storage.table_spec import Float32

PaperId = Annotated[str, "The paper (more exactly: the file or record) that the row is of, as in `manifest`."]
ChunkId = Annotated[str, "The chunk, as in `chunks`."]
CommunityId = Annotated[str, "The community: a hash of its members and its level, so equal communities have equal ids."]
Ord = Annotated[int, "Place among the paper's, from 0, in reading order."]
RefId = Annotated[str, "The entry as the paper's own list names it (a number, a key)."]
Model = Annotated[str, "Id of the embedding model."]
Vector = Annotated[list[Float32], "The vector, of length (Euclidean norm) 1; its dimension is the model's."]
