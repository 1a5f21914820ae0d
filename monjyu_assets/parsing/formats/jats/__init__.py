"""JATS XML."""
