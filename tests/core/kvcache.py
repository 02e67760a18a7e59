"""What a KV cache keeps of a pass, counted on its graph."""


def numbers_kept(trace):
    """How many numbers are kept of each token for later ones: of all that queries and their shares meet, one row.

    Those are keys and values; where matrices are absorbed, latents and the keys' part for positions (DeepSeek-AI 2024,
    "DeepSeek-V2", table 1). An implementation that keeps a copy of that part in each head's keys keeps more.
    """
    met = (trace.inputs(stage.name) for stage in trace.values() if not stage.is_given and "query" in stage.axes[1:2])
    kept = {each.name: each.shape for stages in met for each in stages if len(each.axes) > 2 and each.axes[1] == "key"}
    return sum(groups * length for groups, _, length in kept.values())
