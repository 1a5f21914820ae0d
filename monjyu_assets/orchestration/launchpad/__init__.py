"""What a person starts from the launchpad of the UI: one job a level, with a form whose defaults work.

Modules with definitions do not use `from __future__ import annotations`: Dagster reads the types of their arguments.
"""
