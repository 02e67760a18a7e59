"""Plain slides of a talk: a text, a list and an image. Images are checked by their bytes; nothing decodes them here."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from attnviz.contract import lesson as contract
from attnviz.core import limits
from attnviz.core.errors import TalkError
from attnviz.lessons.lesson import Text
from attnviz.lessons.questions.spec import FileStruct

ImageName = Annotated[str, Meta(pattern="^[a-z0-9-]{1,40}$")]
Images = Annotated[dict[ImageName, str], Meta(max_length=limits.MAX_TALK_MOMENTS)]  # each as base64, by its name
MAX_ITEMS = 100
_NOT_HERE = "An image that is not here"


class SlideSource(FileStruct, frozen=True):
    """A slide as written in a talk's file. All of it is plain text."""

    text: Text = ""
    items: Annotated[tuple[Text, ...], Meta(max_length=MAX_ITEMS)] = ()
    image: Annotated[str, Meta(pattern="^[a-z0-9-]{0,40}$")] = ""  # its name among the talk's images
    alt: Annotated[str, Meta(max_length=500)] = ""  # the image in words

    def to_contract(self, images: Mapping[str, str]) -> contract.Slide:
        """As the browser reads it. Where the image is missing, as in a talk from a link, its words remain."""
        image = data_url(images[self.image]) if self.image in images else ""
        return contract.Slide(
            text=self.text,
            items=[each for each in self.items if each.strip()],
            image=image,
            alt=self.alt or (_NOT_HERE if self.image and not image else ""),
        )


def data_url(image: str) -> str:
    """An image as a data URL, of the type that its bytes have; a TalkError if it is none that a slide may have."""
    try:
        content = base64.b64decode(image, validate=True)
    except ValueError:
        raise TalkError("An image of a talk is the base64 of a file; this is not.") from None
    if len(content) > limits.MAX_IMAGE_BYTES:
        rule = f"An image has at most {limits.MAX_IMAGE_BYTES // 1000} kB"
        raise TalkError(f"{rule}; this one has {-(-len(content) // 1000):,} kB. Save it smaller, as JPEG or WebP.")
    return f"data:image/{_type_of(content)};base64,{image}"


def _type_of(content: bytes) -> str:
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "webp"
    raise TalkError("An image is a PNG, a JPEG or a WebP; this file’s bytes are of none of them. Save it as one.")


def check_images(images: Mapping[str, str]) -> None:
    """Raise unless these are images, together no larger than a talk may have."""
    if sum(map(len, images.values())) > limits.MAX_TALK_IMAGE_CHARACTERS:
        most = 3 * limits.MAX_TALK_IMAGE_CHARACTERS // 4_000
        raise TalkError(f"A talk has at most {most:,} kB of images, and this one has more. Leave one out.")
    for each in images.values():
        data_url(each)
