"""Laws that every provider is to keep: each has examples, a verdict and words of its own (`maloko help provider-laws`)."""
