"""The command `python -m attnviz.viewer.site FOLDER`: write the edition that needs no server."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from attnviz.core.errors import UnexpectedError, guarded
from attnviz.lessons.talk import Talk, TalkError, read
from attnviz.viewer.site.page import INDEX
from attnviz.viewer.site.static_edition import write


def main(arguments: Sequence[str] | None = None) -> None:
    """Write all pages into the given folder, and print which to open."""
    parser = argparse.ArgumentParser(
        "python -m attnviz.viewer.site",
        description="Write attnviz's lessons and first passes as pages that need no server.",
    )
    parser.add_argument("folder", type=Path, help="where to; a page that is there is overwritten")
    parser.add_argument(
        "--talk", type=Path, action="append", default=[], metavar="FILE", help="a talk of your own, to be a page too"
    )
    parsed = parser.parse_args(arguments)
    talks = [_talk(file) for file in parsed.talk]
    try:
        with guarded("write these pages", "your talk, if you gave one,"):
            sizes = dict(write(parsed.folder, talks))
    except TalkError as error:
        sys.exit(f"{error} Open the talk in attnviz, change that moment and save its file again.")
    except UnexpectedError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"The pages need a folder that can be written; {parsed.folder}: {error.strerror}. Name another.")
    size = f"{len(sizes)} files, {sum(sizes.values()) / 1e6:.1f} MB"
    sys.stdout.write(f"{size}. Open {parsed.folder / INDEX}, or put the folder on any host.\n")


def _talk(file: Path) -> Talk:
    try:
        return read(file.read_bytes())
    except OSError as error:
        sys.exit(f"A talk is a file; {file}: {error.strerror}.")
    except TalkError as error:
        sys.exit(f"{file}: {error}")


if __name__ == "__main__":
    main()
