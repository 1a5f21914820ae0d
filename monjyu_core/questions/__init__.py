"""Questions that people save: an input kept beside the collection's record, and what each snapshot answers to them."""
