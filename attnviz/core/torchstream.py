"""Torch's stream of random numbers on a CPU, bit for bit and without torch (CUDA and MPS draw others)."""

import math

import numpy as np


def seeded(seed: int) -> np.random.RandomState:
    """The stream after `torch.manual_seed(seed)`.

    Torch seeds MT19937 by init_genrand, as RandomState does for a single number
    (an array seeds otherwise).
    """
    return np.random.RandomState(seed)


def rand(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    """Torch's float32 `torch.rand(shape)`: 24 random bits times 2^-24, exact in float64 too.

    Examples
    --------
    >>> rand(seeded(123), (2,)).round(4)
    array([0.2961, 0.5166])
    """
    return (random.randint(0, 2**32, size=shape, dtype=np.uint32) & 0xFFFFFF) * 2.0**-24


def uniform(random: np.random.RandomState, bound: float, shape: tuple[int, ...]) -> np.ndarray:
    """Torch's float32 `tensor.uniform_(-bound, bound)`, as float64 numbers of the same value.

    Torch brings `rand` to the range by one fused multiply-add. Here product and
    sum are exact in float64 (24 bits times 24, less a multiple of their last
    place), so that rounding to float32 is the only rounding, as there.
    """
    bound = np.float64(np.float32(bound))
    return (rand(random, shape) * (2 * bound) - bound).astype(np.float32).astype(np.float64)


def linear(random: np.random.RandomState, n_inputs: int, n_outputs: int) -> np.ndarray:
    """The weight of a new `torch.nn.Linear(n_inputs, n_outputs)`, shape (outputs, inputs): it computes `x @ weight.T`.

    Uniform on +-1 / sqrt(n_inputs), the bound in the steps of torch's kaiming_uniform_(a=sqrt(5)).
    """
    bound = math.sqrt(3.0) * (math.sqrt(2.0 / (1 + 5)) / math.sqrt(n_inputs))
    return uniform(random, bound, (n_outputs, n_inputs))
