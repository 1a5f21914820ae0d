"""Typeset the sample PDFs from their sources: `python data/samples/build.py [OUTPUT_FOLDER]`.

The same sources give the same bytes: fonts come with the `typst` package, dates stand in the sources. Japanese needs
the font IPAexGothic, on Debian and Ubuntu `apt-get install fonts-ipaexfont-gothic`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import typst

HERE = Path(__file__).parent
JAPANESE_FONT = Path("/usr/share/fonts/opentype/ipaexfont-gothic/ipaexg.ttf")
CREATED = 1_750_000_000
"""Creation time written into the PDFs (seconds since 1970), so that no clock is read."""


def build(output: Path) -> list[Path]:
    """Write one PDF for each `sources/*.typ` into `output` and return their paths."""
    if not JAPANESE_FONT.is_file():
        raise FileNotFoundError(f"{JAPANESE_FONT} is missing: apt-get install fonts-ipaexfont-gothic")
    fonts: list[str | Path] = [JAPANESE_FONT.parent]
    output.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for source in sorted((HERE / "sources").glob("*.typ")):
        target = output / f"{source.stem}.pdf"
        typst.compile(source, output=target, font_paths=fonts, ignore_system_fonts=True, timestamp=CREATED)
        written.append(target)
    return written


if __name__ == "__main__":
    for path in build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "papers"):
        print(path)
