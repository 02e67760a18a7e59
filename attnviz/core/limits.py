"""Limits: how much a visitor may ask for."""

MAX_CHARACTERS = 2_000
MAX_TOKENS = 64
MAX_CHANGES = 16
MAX_D_MODEL = 128
"""Of all layers together: so several cost no more than the largest one."""
MAX_LAYERS = 6
"""An address has the steps of so many."""
MAX_MODEL_LAYERS = 4
"""Of a model of one's own."""
MAX_FLIP_NUMBERS = 7_000_000
"""That are computed in a step of the search for what turns an answer, which takes some ten."""
MAX_FILE_BYTES = 8 * 2**20
"""Of a file with someone's own arrays, packed and unpacked."""
MAX_FILE_SIZE = f"{MAX_FILE_BYTES // 2**20} MiB"
MAX_FILE_ARRAYS = 256
MAX_ADDRESS_CHARACTERS = 40_000
"""Of a scene, percent-encoded: 2,000 characters of any script, twice."""
MAX_TALK_MOMENTS = 60
MAX_TALK_BYTES = 400_000
"""Of the file of a talk of one's own, without arrays."""
MAX_TALK_UPLOAD_CHARACTERS = 4 * -(-MAX_FILE_BYTES // 3)
"""Of the arrays in it, which are base64."""
MAX_TALK_MINUTES = 120
"""Of one moment of a talk."""
MAX_TEXT_CHARACTERS = 3_000
"""Of each text of a moment, notes too."""
MAX_STAGE_NUMBERS = 2**19
"""Of any stage of a pass that is recomputed from someone's own arrays."""
