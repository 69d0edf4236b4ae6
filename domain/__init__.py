"""Values and rules of evidence lookup: the standard library and attrs, no I/O, clock or randomness."""
