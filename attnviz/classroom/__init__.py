"""Rooms: a class that follows one speaker's moments and answers its questions. No server is known here."""
