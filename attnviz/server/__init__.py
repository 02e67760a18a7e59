"""How the app is served: what answers beside its pages, and what every request passes through first."""
