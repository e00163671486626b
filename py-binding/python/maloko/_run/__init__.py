"""One run: the program, the live objects that it makes, and what they print and raise."""
