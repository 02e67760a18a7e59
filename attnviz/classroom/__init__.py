"""Rooms: a class follows one speaker's moments and answers questions. Its state, stores (memory, Redis) and routes."""
