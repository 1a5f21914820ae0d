"""Where pasted words stand, and whether the papers that a draft cites say what it says."""
