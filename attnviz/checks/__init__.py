"""Check: somebody's own arrays beside a pass."""
