"""How long a test waits for what must come: no test depends on a machine being quick.

A test that passes ends as soon as that has come; only one that fails waits to the end. On a machine of CI many
processes may share few processors, and what takes a second elsewhere takes a minute.
"""

import os

PATIENCE_SECONDS = 300 if "CI" in os.environ else 60
PATIENCE_MS = PATIENCE_SECONDS * 1000
