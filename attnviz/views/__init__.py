"""What is drawn of a pass, as data."""
