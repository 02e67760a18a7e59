"""Hostile words: what people may type, or put into an address, to break a page or to have it do something.

Each case is text that means something to a language that it may come by: Markdown, HTML, LaTeX, Plotly, JavaScript,
JSON, CSV, Python, a shell, a terminal; or text that is hard on whoever draws it.
"""

CASES = {
    "Markdown": "**b** _i_ `c` ~~s~~ [a](http://evil.example) ![](http://evil.example/x.png) www.evil.example",
    "Streamlit's Markdown": ":red[x] :material/home: :cat: :blue-badge[y] -> <- :small[z] http://evil.example a@b.cd",
    "a table": "|a|b|\n|--|--|\n|1|2|",
    "HTML": "<img src=//evil.example/x onerror=alert(1)> <svg/onload=alert(2)> <b>bold</b> <iframe src=//evil.example>",
    "a closed element": "</textarea></td></script><script>alert(3)</script>",
    "an attribute": '" onmouseover=alert(4) \' onfocus=alert(5) autofocus x="',
    "entities": "&lt;b&gt; &amp;amp; &#x3c;script&#x3e; &nbsp;",
    "an address": "javascript:alert(6) data:text/html,<script>alert(7)</script>",
    "LaTeX": r"$x^2$ $$\href{http://evil.example}{x}$$ \input{/etc/passwd} \def\x{\x\x}\x }{ \end{matrix} %",
    "Plotly": '%{y} %{text}<extra></extra> <a href="http://evil.example">a</a> <br>',
    "JavaScript": "${alert(8)} `${x}` {{constructor.constructor('alert(9)')()}} __proto__ constructor toString",
    "JSON": '{"a": [1, null]} "\\u0000" ]}\' NaN',
    "slots of a story": "{query} {value:bt} {terms} {n} {0}",
    "Python's format": "{} {0.__class__.__mro__} {x!r} %s %(x)s %n f'{1}'",
    "Python": "'''\"\"\" '); __import__('os').system('id') # \\",
    "a new line of code": "a\nimport os\rprint(1)\u2028exit()\u2029",
    "a formula of CSV": '=HYPERLINK("http://evil.example";"x") =1+1 +1 -1 @SUM(A1) \t=cmd|\' /C calc\'!A0',
    "SQL": "' OR 1=1; DROP TABLE words; --",
    "a shell": "$(reboot) `id` ; rm -rf / | cat && false > /tmp/x",
    "a path": "../../../etc/passwd ..\\..\\con nul.txt C:\\ file:///etc/passwd /dev/zero",
    "a terminal": "\x1b[2J\x1b]0;title\x07 \x08\x08 \x7f",
    "control characters": "a\x00b\x01c\x0bd\x0ce\x85f\ufffe\uffff",
    "a lone surrogate": "a\ud800b \udfff \ude00\ud83d",
    "right to left": "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 \u202eevil\u202c \u2066x\u2069 \u200f!",
    "zero width": "a\u200bb \u200c \u200d \u2060 \ufeff \u00ad \u034f\u180e \u3164 \u115f",
    "zalgo": "".join(f"{letter}{chr(0x300 + 7 * place) * 30}" for place, letter in enumerate("zalgo")),
    "combining alone": "\u0301 \u0323\u0301 \u20dd \u0489",
    "emoji": "👩\u200d👩\u200d👧\u200d👦 👍🏽 🇫🇷 1\ufe0f\u20e3 ❤\ufe0f  \U0001f3f4\U000e0067\U000e0062\U000e007f",
    "private and unassigned": "\ue000 \U000f0000 \U0010ffff \u0378",
    "spaces of all kinds": "\u00a0a\u3000b\u2009c\u1680d\t \r\n",
    "a very long word": "a" * 1990,
    "words that are alike": "a a\u0301 \u00e1 A \u0430 a (2) a a",
    "numbers": "1e400 -inf nan 0x10 1_000 \u0663 \u2167 \u00b2 1/0 \u221e -0",
    "names of ours": "head 1 query key scores[0,1,2] output w_q mask the (2) \u2026 \u201c\u201d",
}
"""Texts by what they are."""
