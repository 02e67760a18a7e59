"""Encoding: data as JSON, and JSON that is a part of other data."""

import msgspec

Json = msgspec.Raw
"""Data that was written once and stands in other data as it is."""

to_json = msgspec.json.Encoder().encode
"""Data as JSON that every browser reads: of lists, mappings with texts as keys, texts, numbers and `Json`."""
