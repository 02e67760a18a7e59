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


def uniform(random: np.random.RandomState, low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
    """Torch's float32 `tensor.uniform_(low, high)`, as float64 numbers of the same value.

    `rand` brought to [low, high) by one fused multiply-add. The product is exact
    in float64; the sum is rounded to odd before it is rounded to float32, as
    rounding twice to nearest can differ in the last bit.
    """
    low, high = np.float32(low), np.float32(high)
    product = rand(random, shape) * np.float64(high - low)
    total = product + np.float64(low)
    virtual = total - product
    error = (product - (total - virtual)) + (np.float64(low) - virtual)  # Knuth's TwoSum: total + error is exact
    even = (total.view(np.uint64) & 1) == 0
    odd = np.where((error != 0) & even, np.nextafter(total, np.copysign(np.inf, error)), total)
    return odd.astype(np.float32).astype(np.float64)


def linear(random: np.random.RandomState, n_inputs: int, n_outputs: int) -> np.ndarray:
    """The weight of a new `torch.nn.Linear(n_inputs, n_outputs)`, shape (outputs, inputs): it computes `x @ weight.T`.

    Uniform on +-1 / sqrt(n_inputs), the bound in the steps of torch's kaiming_uniform_(a=sqrt(5)).
    """
    bound = math.sqrt(3.0) * (math.sqrt(2.0 / (1 + 5)) / math.sqrt(n_inputs))
    return uniform(random, -bound, bound, (n_outputs, n_inputs))
