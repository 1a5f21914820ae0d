"""A collection as a model of OpenAI's chat API."""
