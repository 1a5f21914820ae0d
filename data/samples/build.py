"""Make the sample PDFs, DOCX and PPTX from their sources: `python data/samples/build.py [OUTPUT_FOLDER]`.

The same sources give the same bytes: fonts come with the `typst` package, dates stand in the sources. Japanese needs
the font IPAexGothic, on Debian and Ubuntu `apt-get install fonts-ipaexfont-gothic`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import typst

sys.path.insert(0, str(Path(__file__).parent))
from office import build_docx, build_pptx

HERE = Path(__file__).parent
JAPANESE_FONT = Path("/usr/share/fonts/opentype/ipaexfont-gothic/ipaexg.ttf")
OFFICE = {"reader-leases.docx": build_docx, "shard-sizes.pptx": build_pptx}
CREATED = 1_750_000_000
"""Creation time written into the PDFs (seconds since 1970), so that no clock is read."""


def build(output: Path) -> list[Path]:
    """Write a PDF for each `sources/*.typ`, and the DOCX and the PPTX, into `output`; gives their paths."""
    if not JAPANESE_FONT.is_file():
        raise FileNotFoundError(f"{JAPANESE_FONT} is missing: apt-get install fonts-ipaexfont-gothic")
    fonts: list[str | Path] = [JAPANESE_FONT.parent]
    output.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for source in sorted((HERE / "sources").glob("*.typ")):
        target = output / f"{source.stem}.pdf"
        typst.compile(source, output=target, font_paths=fonts, ignore_system_fonts=True, timestamp=CREATED)
        written.append(target)
    for name, make in OFFICE.items():
        make(HERE / "sources" / f"{Path(name).stem}.json", output / name)
        written.append(output / name)
    return written


if __name__ == "__main__":
    for path in build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "papers"):
        print(path)
