"""Check: the words for somebody's own arrays beside a pass."""
