"""Automation: a sensor that watches the sources, schedules, and conditions under which assets follow changes.

Modules with definitions do not use `from __future__ import annotations`: Dagster reads the types of their arguments.
"""
