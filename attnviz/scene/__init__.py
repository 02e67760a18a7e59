"""The scene: what a person looks at, as one value that an address holds."""
