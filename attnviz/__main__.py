"""Open the app: `python -m attnviz`, the same as the command `attnviz`."""

from attnviz.server.command import main

if __name__ == "__main__":
    main()
