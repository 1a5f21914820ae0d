"""Libraries of reference managers: Zotero's own folder and what programs export, brought into a collection."""
