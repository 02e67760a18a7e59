"""What the browser receives for a scene and its pass, as JSON."""
