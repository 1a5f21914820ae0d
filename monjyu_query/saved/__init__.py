"""Saved questions: asks a snapshot, judges the answers, and compares those of two snapshots."""
