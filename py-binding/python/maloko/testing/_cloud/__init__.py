"""What tests on real clouds leave behind."""
