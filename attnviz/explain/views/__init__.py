"""Pictures of a pass, as data."""
