"""Laws that every provider is to keep, each with examples, a verdict and words (`maloko help provider-laws`)."""
