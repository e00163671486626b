"""What the command line asks of Python."""
