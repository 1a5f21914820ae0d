"""Files that a user was given by somebody: read with bounds on bytes, depth, rows, memory and time, in one place."""
