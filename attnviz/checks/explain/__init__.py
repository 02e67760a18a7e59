"""Explain: the pass and the mistakes that reproduce the user's arrays.

The order of work: `explanation` is the entry point. `candidates` are the passes that the arrays may belong to, and
`comparison` compares one of them with the arrays, stage by stage. `search` takes three steps in each precision:
`unmodified_passes`; `rotation_search`, for rotations that the arrays don't tell; and `mistake_search`, for mistakes at
the first stage that differs. Its result is a `diagnosis`. If nothing explains the arrays, `axis_orders` permutes axes.
"""
