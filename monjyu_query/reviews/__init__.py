"""Living reviews: papers screened by the criteria of a protocol, each decision with its reason and quotes."""
