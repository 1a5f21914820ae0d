"""A collection seen whole: its maps of citations and concepts, and its themes as a tree."""
