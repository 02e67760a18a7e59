"""Two scenes beside each other."""
