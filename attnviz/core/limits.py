"""Limits on what a visitor may request."""

MAX_CHARACTERS = 2_000
MAX_TOKENS = 64
MAX_CHANGES = 16
MAX_D_MODEL = 128
"""For all layers together, so that several cost no more than the largest single one."""
MAX_LAYERS = 6
"""The address has names for the steps of this many layers."""
MAX_MODEL_LAYERS = 4
"""For a user's own model."""
MAX_FLIP_NUMBERS = 7_000_000
"""Numbers computed per step of the search for a flip, which takes about ten steps."""
MAX_FILE_BYTES = 8 * 2**20
"""Size of a file with a user's arrays, packed and unpacked."""
MAX_FILE_SIZE = f"{MAX_FILE_BYTES // 2**20} MiB"
MAX_FILE_ARRAYS = 256
MAX_ADDRESS_CHARACTERS = 40_000
"""A percent-encoded scene: 2,000 characters of any script, twice."""
MAX_TALK_MOMENTS = 60
MAX_TALK_BYTES = 400_000
"""The file of a talk, without its arrays and images."""
MAX_IMAGE_BYTES = 300_000
"""For one image of a slide."""
MAX_IMAGE_CHARACTERS = 4 * -(-MAX_IMAGE_BYTES // 3)
"""The same as base64."""
MAX_TALK_IMAGE_CHARACTERS = 2_600_000
"""The base64 images of a talk: with the rest of its file, but for arrays, 3 MB."""
MAX_TALK_UPLOAD_CHARACTERS = 4 * -(-MAX_FILE_BYTES // 3)
"""The base64 arrays of a talk."""
MAX_TALK_MINUTES = 120
"""For one moment of a talk."""
MAX_TEXT_CHARACTERS = 3_000
"""For each text of a moment, including notes."""
MAX_STAGE_NUMBERS = 2**19
"""For any stage of a pass that a server recomputes from an uploaded file; the library has no limit."""
