"""The course of a run: which stacks begin next, and what becomes of the others. It knows no engine and no clock."""
