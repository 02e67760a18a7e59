"""What is written and drawn about a pass, as data."""
