"""Talk uploads: the files of somebody's own that a talk's file holds, arrays or a model, as base64 of an `.npz`."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from typing import Annotated

from msgspec import Meta

from attnviz.checks.uploads.packing import packed, unpacked
from attnviz.checks.uploads.stages import LACKING
from attnviz.core.errors import OwnArraysError
from attnviz.core.limits import MAX_FILE_SIZE, MAX_TALK_MOMENTS, MAX_TALK_UPLOAD_CHARACTERS
from attnviz.scene.scene import Scene, Upload, source_of_upload

MAX_IN_MOMENT = 3
"""Files that a moment may show: those of a pass and of one beside it, and what somebody's code made of that."""

UploadName = Annotated[str, Meta(pattern="^[a-z0-9-]{1,40}$")]
Uploads = Annotated[dict[UploadName, str], Meta(max_length=MAX_IN_MOMENT * MAX_TALK_MOMENTS)]
"""Each file as base64, by its name."""


def of_scene(scene: Scene) -> dict[str, str]:
    """The files that a scene, and the one beside it, shows; the same file has the same name."""
    scenes = [each for each in (scene, scene.other) if each is not None]
    files = (file for each in scenes for file in (each.upload, each.code))
    return dict(_named(file) for file in files if file is not None and file is not LACKING)


def _named(upload: Upload) -> tuple[str, str]:
    content = packed(upload)
    return f"own-{hashlib.sha256(content).hexdigest()[:16]}", base64.b64encode(content).decode()


def by_source(names: Iterable[str], uploads: Mapping[str, str]) -> dict[str, Upload]:
    """The files of these names, each by the key that a scene has it by.

    Raises
    ------
    OwnArraysError
        If one isn't there, or is broken.
    """
    files = (_read(name, uploads) for name in names)
    return {source_of_upload(each): each for each in files}


def _read(name: str, uploads: Mapping[str, str]) -> Upload:
    if name not in uploads:
        raise OwnArraysError("The numbers of this moment are not in the talk. Open the file that has them.")
    try:
        content = base64.b64decode(uploads[name], validate=True)
    except ValueError:
        raise OwnArraysError("The numbers of a talk are base64 of an .npz; these are not.") from None
    return unpacked(content)


def check_size(uploads: Mapping[str, str]) -> None:
    """Hold that all files of a talk are no larger than one file of arrays may be.

    Raises
    ------
    OwnArraysError
    """
    if sum(map(len, uploads.values())) > MAX_TALK_UPLOAD_CHARACTERS:
        raise OwnArraysError(f"A talk holds at most {MAX_FILE_SIZE} of somebody's own numbers; this one has more.")
