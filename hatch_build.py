"""The package asks for what requirements.txt asks for, so that the ranges stand in one place."""

from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Dependencies(MetadataHookInterface):
    """Reads the dependencies of the package."""

    def update(self, metadata: dict) -> None:
        metadata["dependencies"] = Path(self.root, "requirements.txt").read_text("utf-8").splitlines()
