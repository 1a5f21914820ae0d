"""The parts of a page: lines, columns, furniture, tables, figures, equations, footnotes."""
