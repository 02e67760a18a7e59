"""The site: lessons, passes and an article as static pages with one script, opened as files or from any host."""
