"""The scene: all that a person looks at, as one value that an address holds."""
