"""Claims (level 4): what papers assert, sentence by sentence."""
