"""The rows of the tables: one record a table, from which its schema and its description follow."""
