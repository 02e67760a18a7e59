"""What a person looks at, and what the server keeps of it."""
