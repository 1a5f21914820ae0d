"""What a review is shown and handed on as, all from its records: counts, diagram, lists, tables, a report."""
