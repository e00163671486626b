"""Laws that every provider is to keep, each with its examples, its verdict and its words (`maloko help provider-laws`)."""
