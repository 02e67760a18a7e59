"""Colours of numbers, as red, green and blue. Each is laid over the page, the more strongly the larger the number is.

Blue and vermilion, and the four roles in `.streamlit/config.toml`, can be
told apart by colour-blind eyes (Okabe and Ito 2008).
"""

NEGATIVE = (36, 99, 196)
POSITIVE = (208, 74, 22)
SHARE = (112, 56, 190)
