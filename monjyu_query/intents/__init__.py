"""What a question asks of the collection as a whole: one table of intents, a file a language."""
