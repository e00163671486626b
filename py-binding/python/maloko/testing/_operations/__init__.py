"""A stack of a test, the operations on it, and what they come to."""
