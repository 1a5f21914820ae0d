"""What an asset tells people of its run: the cause of a failure first, when it was computed, who publishes it."""
