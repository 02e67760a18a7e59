"""The site: lessons, passes and an article as static pages over one script, for a file or any host."""
