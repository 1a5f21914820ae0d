"""Searches under way: their turns, their events, results kept."""
