"""The contract: all that a browser is given, declared once; the types of the browser's code are made of it."""
