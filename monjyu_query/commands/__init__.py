"""The commands that ask questions and serve collections."""
