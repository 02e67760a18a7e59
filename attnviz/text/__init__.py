"""What is said of a pass, as data."""
