"""What runs by itself: a sensor that watches the sources, schedules, and conditions by which assets follow changes.

Modules with definitions do without `from __future__ import annotations`: Dagster looks at the types of their arguments.
"""
