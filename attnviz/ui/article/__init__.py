"""The article: parts of a page as data, drawn by a component of our own."""
