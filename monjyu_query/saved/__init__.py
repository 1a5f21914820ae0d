"""Saved questions: asking them of a snapshot, judging the answers, and what changed between two snapshots."""
