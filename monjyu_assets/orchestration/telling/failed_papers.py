"""Papers that could not be read: which, why, and what to do, for `parsed_papers` and the snapshot.

The failure's own words may quote its file, so they stay in the table `failures`, which a purge reaches.
"""

from __future__ import annotations

from collections import Counter

import dagster as dg

from monjyu_assets.orchestration.plots import bars
from monjyu_assets.orchestration.results import Metadata
from monjyu_assets.stages.shared.collection_stage import whole_table
from monjyu_assets.stages.shared.work import Work

MOST = 50
"""Papers listed."""
WHAT_TO_DO = {
    "PDFProcessError": "Open the PDF in another program and save it again.",
    "EncryptedDocument": "Save a copy without a password in its place.",
    "EmptyDocument": "The file has no text: replace or remove it.",
    "ScannedDocument": "Its pages are images: set up OCR (`monjyu doctor` says how), or give a file with text.",
    "MalformedDocument": "The file is damaged, or its extension is wrong: download or save it again.",
    "UnsupportedDocument": "Save it as PDF or another format that is read (docs/index.md lists them).",
    "DocumentTooLarge": "Split it, or raise the limit that its message names (parse.max_file_mb, ...).",
    "DocumentTimeout": "Raise parse.timeout_seconds; it is then tried again.",
    "DocumentMemory": "Raise parse.memory_mb; it is then tried again.",
    "ParserCrash": "The file may be damaged: save it again. The other papers are not affected.",
    "DuplicatePaperId": "Two records have one id: give each its own.",
}
"""By cause, the name of the error."""


def failed_papers_metadata(work: Work) -> Metadata:
    """Count, table and, where there is something to see, a picture of the causes, over the whole collection."""
    failed = whole_table(work, "failures", ["paper_id", "error_type"]).sort_by("paper_id").to_pylist()
    causes = Counter(row["error_type"] for row in failed)
    metadata: Metadata = {"failed_papers": len(failed)}
    if failed:
        metadata["failed_papers_list"] = dg.MetadataValue.table(
            [
                dg.TableRecord(
                    {
                        "paper": row["paper_id"],
                        "cause": row["error_type"],
                        "what to do": WHAT_TO_DO.get(row["error_type"], "See its message in the table failures."),
                    }
                )
                for row in failed[:MOST]
            ],
            dg.TableSchema(
                [dg.TableColumn("paper"), dg.TableColumn("cause"), dg.TableColumn("what to do")],
                constraints=dg.TableConstraints([f"{len(failed)} papers; `monjyu status {work.name}` lists all."]),
            ),
        )
        metadata["failures_by_cause"] = dg.MetadataValue.md(bars(dict(causes.most_common()), "papers"))
    return metadata
