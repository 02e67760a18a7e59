"""Which queries see no key, asked of the masked scores."""

import numpy as np


def fully_masked(trace):
    return tuple(map(tuple, np.argwhere(~np.isfinite(trace["masked"].value).any(axis=-1)).tolist()))
