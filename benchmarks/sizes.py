"""Sizes: `compare` of a layer of 512 tokens, 12 heads and d_model 768, right and with a common mistake.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 .venv/bin/python -m benchmarks.sizes

x, all parameters, q, k, v, attention and output are compared, in float32. Each case runs in a process of its own, which
times plain NumPy attention of that size too: the ratio carries over to another machine. Memory is the process's peak.
"""

import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from attnviz import compare

N, N_HEADS, D_K = 512, 12, 64
MISTAKES = {
    "right": "",
    "not scaled": "unscaled",
    "mask not applied": "mask not applied",
    "heads joined wrongly": "heads joined without transposing",
    "128 queries alone": "",
}
MAX_SECONDS, MAX_MB = 3.0, 1_000


def layer(case: str) -> dict[str, np.ndarray]:
    """A causal layer's arrays, computed with the mistake of a case."""
    random = np.random.default_rng(0)
    width = N_HEADS * D_K
    x = random.normal(size=(N, width)).astype(np.float32)
    w = {each: (random.normal(size=(width, width)) / width**0.5).astype(np.float32) for each in "qkvo"}
    b = {each: (random.normal(size=width) / 4).astype(np.float32) for each in "qkvo"}
    return {"x": x, **{f"{e}_proj.weight": w[e].T for e in w}, **{f"{e}_proj.bias": b[e] for e in b}} | attended(
        x, w, b, case
    )


def attended(x: np.ndarray, w: dict[str, np.ndarray], b: dict[str, np.ndarray], case: str) -> dict[str, np.ndarray]:
    """Plain attention in NumPy."""
    q, k, v = ((x @ w[each] + b[each]).reshape(N, N_HEADS, D_K).swapaxes(0, 1) for each in "qkv")
    scores = q @ k.swapaxes(1, 2)
    scores = scores if case == "not scaled" else scores / np.float32(D_K**0.5)
    mask = np.tri(N, dtype=bool)
    scores = scores if case == "mask not applied" else np.where(mask, scores, np.float32(-np.inf))
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    attention = exponentials / exponentials.sum(axis=-1, keepdims=True)
    heads = attention @ v
    concat = (heads if case == "heads joined wrongly" else heads.swapaxes(0, 1)).reshape(x.shape)
    return {"mask": mask, "q": q, "k": k, "v": v, "attention": attention, "output": concat @ w["o"] + b["o"]}


def seconds(task: Callable[[], object], times: int = 1) -> float:
    """The least processor's time of a task."""
    least = np.inf
    for _ in range(times):
        start = time.process_time()
        task()
        least = min(least, time.process_time() - start)
    return least


def measure(case: str) -> None:
    """Print a case's time, its ratio to plain NumPy in float64, as `compare` computes, and the peak memory."""
    import resource  # which Windows lacks

    arrays, found = layer(case), []
    w = {each: arrays[f"{each}_proj.weight"].T.astype(np.float64) for each in "qkvo"}
    b = {each: arrays[f"{each}_proj.bias"].astype(np.float64) for each in "qkvo"}
    x = arrays["x"].astype(np.float64)
    query = slice(0, 128) if case.startswith("128") else None
    took = seconds(lambda: found.append(compare(None, arrays, query=query)))
    mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    ratio = took / seconds(lambda: attended(x, w, b, case), 3)
    causes = [each.id for each in found[0].causes]
    is_right = causes == [MISTAKES[case]] * bool(MISTAKES[case]) and found[0].explained
    within = is_right and took <= MAX_SECONDS and mb <= MAX_MB
    print(f"{case:<24}{took:8.2f} s{ratio:8.1f}{mb:10.0f} MB{'' if within else '   beyond its aim'}", flush=True)
    sys.exit(not within)


def main() -> int:
    """Print the table; 1 if a case is named wrongly, or takes more than 3 s of a processor or 1 GB."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    print(f"{'512 tokens, 12 x 64':<24}{'processor':>10}{'/ NumPy':>8}{'peak':>13}", flush=True)
    ran = [subprocess.run([sys.executable, "-m", "benchmarks.sizes", case], check=False) for case in MISTAKES]
    return int(any(each.returncode for each in ran))


if __name__ == "__main__":
    sys.exit(main())
