"""Plain values and pure functions: no pytest, no I/O, no clock, no environment."""
