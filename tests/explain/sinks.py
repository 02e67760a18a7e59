"""A page that shows words at every place where Streamlit reads text as Markdown, escaped as attnviz escapes them."""

import streamlit as st

from attnviz.explain.styled_text import markdown

WORDS = [
    *("www.evil.example", "WWW.Evil.Example", "(www.1x.de)", "wwww.x.y", "http://x.y", "https://1", "ftp://a.b"),
    *("a@b.cd", "a@1.2d", "mailto:a@b.cd", "[a](http://evil.example)", "![](http://evil.example/x.png)", "<b>"),
    "&amp;",
    *(":material/home:", ":red[x]", ":cat:", ":100:", ":+1:", ":-1:", "->", "<-", "<->", "--", ">=", "~=", "a -> 5"),
    *("`code`", "a`b", "``", "\\", "\\\\", "a\\", "\\`", "$x$", "$$", "*b*", "_i_", "__dunder__", "~~s~~", "a|b", "#"),
    *("# h", "1. x", "- x", "> q", "1.5e-05", "-0.25", "constructor", "$a$ and $b$"),
]
BOXES = ("button", "number", "label", "option", "segment")
SHOWN = [
    (sink, word)
    for place, word in enumerate(WORDS)
    for sink in ("inside", "markdown", "warning", BOXES[place % len(BOXES)])
]
"""Each word in texts, and in one kind of box: these take long to be drawn."""


def show() -> None:
    st.title("Words at every place")
    for place, (sink, word) in enumerate(SHOWN):
        escaped, key = markdown(word), f"{sink} {place}"
        with st.container(key=f"{sink}_{place}"):
            if sink == "inside":
                st.markdown(f"is {escaped} shown?")
            elif sink == "markdown":
                st.markdown(escaped)
            elif sink == "warning":
                st.warning(escaped)
            elif sink == "button":
                st.button(escaped, key=key)
            elif sink == "number":
                st.number_input(escaped, key=key)
            elif sink == "label":
                st.selectbox(escaped, ["-"], key=key)
            elif sink == "option":
                st.selectbox("-", [word], key=key)  # options are no Markdown
            elif sink == "segment":
                st.segmented_control("-", [escaped], key=key)


if __name__ == "__main__":
    show()
