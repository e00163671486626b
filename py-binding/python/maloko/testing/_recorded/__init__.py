"""What tests keep from run to run: responses, calls, plans, states."""
