"""A model tried in a minute: small tasks with known answers, what it is good enough for, and the settings that
follow."""
