"""Answers as data products: packages that say what an answer rests on and can be held against it, and documents."""
