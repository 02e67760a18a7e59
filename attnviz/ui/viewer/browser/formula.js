// Typesets the LaTeX that attnviz writes, as MathML: letters, numbers, signs, ^ and _, \frac, \text, and these.
const SIGNS = { "\\cdot": "·", "\\dots": "…", "\\infty": "∞", "\\quad": "\u2003", "-": "−" };

function typeset(latex) {
  const tokens = latex.match(/\\text\{[^}]*\}|\\[a-z]+|[\d.]+|\S/gu) ?? [];
  const row = () => { // up to the brace that closes it, or the end
    const parts = [];
    while (tokens.length && tokens[0] !== "}") parts.push(scripted(atom()));
    tokens.shift();
    return maths("mrow", parts);
  };
  let before = "(";
  const atom = () => {
    const token = tokens.shift();
    const isSign = "-+".includes(token) && /[({=+]$/.test(before); // of a number, and so close to it
    before = token;
    if (token === "{") return row();
    if (token === "\\frac") return maths("mfrac", [atom(), atom()]);
    if (token.startsWith("\\text")) return maths("mtext", [token.slice(6, -1).replaceAll(" ", "\u00a0")]);
    const made = maths(/^[\d.]|^\\infty/.test(token) ? "mn" : /^\p{L}/u.test(token) ? "mi" : "mo", [SIGNS[token] ?? token]);
    if (isSign) made.setAttribute("form", "prefix");
    if ("()".includes(token)) made.setAttribute("stretchy", "false");
    return made;
  };
  const scripted = (base) => {
    const scripts = {};
    while (tokens[0] === "_" || tokens[0] === "^") scripts[tokens.shift()] = atom();
    const { _: below, "^": above } = scripts;
    if (below && above) return maths("msubsup", [base, below, above]);
    return below ? maths("msub", [base, below]) : above ? maths("msup", [base, above]) : base;
  };
  const whole = maths("math", [row()]);
  whole.setAttribute("displaystyle", "true");
  return whole;
}

function maths(tag, parts) {
  const made = document.createElementNS("http://www.w3.org/1998/Math/MathML", tag);
  made.append(...parts);
  return made;
}
