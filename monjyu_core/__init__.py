"""The contract: settings, tables, parts and snapshots, text, models. Imports neither of the other packages."""
