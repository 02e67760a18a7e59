"""Written: data as JSON."""

import json


def json_of(data: dict) -> bytes:
    """Data as JSON that every browser reads."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
