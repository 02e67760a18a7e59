"""The viewer: what draws in the browser, and what it is sent."""
