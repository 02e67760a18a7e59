"""The arrays of somebody's own that their tab has."""
