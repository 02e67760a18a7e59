"""The command `python -m attnviz.site FOLDER`: write the edition that needs no server."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from attnviz.site.edition import write
from attnviz.site.page import INDEX


def main(arguments: Sequence[str] | None = None) -> None:
    """Write all pages into the folder that is named, and say which to open."""
    parser = argparse.ArgumentParser(
        "python -m attnviz.site", description="Write attnviz's lessons and first passes as pages that need no server."
    )
    parser.add_argument("folder", type=Path, help="where to; a page that is there is overwritten")
    folder = parser.parse_args(arguments).folder
    try:
        sizes = dict(write(folder))
    except OSError as error:
        sys.exit(f"The pages need a folder that can be written; {folder}: {error.strerror}. Name another.")
    size = f"{len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB"
    sys.stdout.write(f"{size}. Open {folder / INDEX}, or put the folder on any host.\n")


if __name__ == "__main__":
    main()
