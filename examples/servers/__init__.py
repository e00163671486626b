"""Local stand-ins for the two services that the examples manage."""
