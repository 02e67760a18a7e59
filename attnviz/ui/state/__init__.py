"""What a person looks at, and the controls that change it."""
