"""Values and rules: the standard library and attrs, no I/O, clock or randomness."""
