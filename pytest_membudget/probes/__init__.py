"""Adapters to what can measure memory: each file knows one source and none of the others."""
