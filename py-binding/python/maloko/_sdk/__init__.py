"""How the official SDK is met: what it is given in place of its own, and what is replaced in it during a run."""
