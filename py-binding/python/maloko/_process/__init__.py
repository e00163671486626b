"""What a run needs of its process: event loops, threads, forks, signals, the terminal, tracebacks."""
