"""Local reading of PDF files: characters, lines, columns, structure."""

from monjyu_assets.parsing.pdf.parser import parse_pdf

__all__ = ["parse_pdf"]
