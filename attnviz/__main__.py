"""The command `attnviz`, and `python -m attnviz`: open the app, where the packages that it needs are installed."""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

from attnviz import __version__

APP = ("streamlit", "plotly", "pandas")
"""The packages of the extra `app`."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve the app; or print the version, or which packages are missing."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if "--version" in arguments:
        sys.stdout.write(f"attnviz {__version__}\n")
        return
    missing = [name for name in APP if find_spec(name) is None]
    if missing:
        install = f"The app needs {', '.join(missing)}; install it by: pip install 'attnviz[app]'"
        if not {"-h", "--help"}.isdisjoint(arguments):
            without = "Python needs no app: import attnviz; help(attnviz)"
            sys.stdout.write(f"attnviz opens an app in your browser. {install}\n{without}\n")
            return
        sys.exit(install)
    from attnviz.app.command import main as serve

    serve(arguments)


if __name__ == "__main__":
    main()
