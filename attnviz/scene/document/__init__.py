"""All that a browser is given of a scene and its pass, as JSON."""
