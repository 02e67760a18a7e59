"""Random numbers that are the same in every process and on every machine: our own streams, and torch's."""

import hashlib
import math
from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence


class _Zeros(ISeedSequence):
    """A dummy seed for a generator that is seeded afterwards; NumPy's default takes ten times as long."""

    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> Any:
        return [0] * n_words  # the generator reads one by one, which is faster from a list


_ZEROS: Any = _Zeros()  # NumPy's stubs accept only SeedSequence


def stream(name: str, seed: int) -> np.random.RandomState:
    """The random stream that belongs to `name` and `seed`.

    blake2b rather than Python's `hash`, which differs between processes; `RandomState` rather than `Generator`, whose
    numbers may change with a NumPy release (NEP 19 freezes only the former).
    """
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=32).digest()
    random = np.random.RandomState(np.random.MT19937(_ZEROS))
    random.seed(np.frombuffer(digest, dtype="<u4"))
    return random


def torch_seeded(seed: int) -> np.random.RandomState:
    """The stream after `torch.manual_seed(seed)`.

    Torch seeds MT19937 by init_genrand, as RandomState does for a single number (an array seeds otherwise).
    """
    return np.random.RandomState(seed)


def torch_rand(random: np.random.RandomState, shape: tuple[int, ...]) -> np.ndarray:
    """Torch's float32 `torch.rand(shape)`: 24 random bits times 2^-24, exact in float64 too.

    >>> torch_rand(torch_seeded(123), (2,)).round(4)
    array([0.2961, 0.5166])
    """
    return (random.randint(0, 2**32, size=shape, dtype=np.uint32) & 0xFFFFFF) * 2.0**-24


def torch_uniform(random: np.random.RandomState, bound: float, shape: tuple[int, ...]) -> np.ndarray:
    """Torch's float32 `tensor.uniform_(-bound, bound)`, as float64 numbers of the same value.

    Torch maps `rand` to the range with one fused multiply-add. Here product and sum are exact in float64 (24 bits times
    24 bits), so that rounding to float32 is the only rounding, as in torch.
    """
    bound = np.float64(np.float32(bound))
    return (torch_rand(random, shape) * (2 * bound) - bound).astype(np.float32).astype(np.float64)


def torch_linear(random: np.random.RandomState, n_inputs: int, n_outputs: int) -> np.ndarray:
    """The weight of a new `torch.nn.Linear(n_inputs, n_outputs)`, shape (outputs, inputs): it computes `x @ weight.T`.

    Uniform on +-1 / sqrt(n_inputs), the bound in the steps of torch's kaiming_uniform_(a=sqrt(5)).
    """
    bound = math.sqrt(3.0) * (math.sqrt(2.0 / (1 + 5)) / math.sqrt(n_inputs))
    return torch_uniform(random, bound, (n_outputs, n_inputs))
