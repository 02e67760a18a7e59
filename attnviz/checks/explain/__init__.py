"""Explain: the pass and the mistakes that reproduce the user's arrays.

The order of work: `explanation` is the entry point. `search` takes three steps in each precision: `unmodified_passes`
and `rotation_search` of `passes`, for masks and rotations that the arrays don't tell; and `mistake_search`, for
mistakes at the first stage that differs. Its result is a `diagnosis`. If nothing explains the arrays, `axis_orders`
permutes axes; `batch` explains several sentences.
"""
