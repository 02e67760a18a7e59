// Reads the LaTeX that attnviz writes into a tree of MathML: letters, numbers, signs, ^ and _, \frac, \sqrt, \text, \mathrm,
// and these. Any other command is the name of a function or operator (\tanh), and stands upright.
const SIGNS = new Map([
  ["\\cdot", "·"],
  ["\\dots", "…"],
  ["\\cdots", "⋯"],
  ["\\infty", "∞"],
  ["\\in", "∈"],
  ["\\top", "⊤"],
  ["\\sum", "∑"],
  ["-", "−"],
]);
const SPACES = new Map([
  ["\\,", "0.1667em"],
  ["\\;", "0.2778em"],
  ["\\quad", "1em"],
]);
const WITH_LIMITS = ["\\sum", "\\max"]; // what stands below them is set under them
const STRETCHY = [..."()[]"].map(bracket => [bracket, { stretchy: "false" }]);
const TRANSPOSING = ["\\top", "⊤"].map(transposing => [transposing, { lspace: "0", rspace: "0" }]);
/** @type {Map<string, Record<string, string>>} */
const ATTRIBUTES = new Map(
  Object.entries({ ...Object.fromEntries([...STRETCHY, ...TRANSPOSING]), "\\sum": { movablelimits: "false" } }),
);
const UPRIGHT = /^\\(?:text|mathrm)\{(.*)\}$/;

/** @param {string} latex @returns {string[]} */
export const tokens = latex => latex.match(/\\(?:text|mathrm)\{[^}]*\}|\\[a-zA-Z]+|\\.|[\d.]+|\S/gu) ?? [];
/** The LaTeX of one head, where `_i` stands for it. @param {string} latex @param {number} head */
export const ofHead = (latex, head) => latex.replaceAll(/_i(?![a-z])/g, head < 9 ? `_${head + 1}` : `_{${head + 1}}`);

/** The symbol of a matrix that lies on its side; what stands above it comes first. @param {string} latex */
export function transposed(latex) {
  const above = /\^(\{[^}]*\}|\w)/;
  return above.test(latex) ? latex.replace(above, "^{$1⊤}") : `${latex}^⊤`;
}

/** A tree of {tag, attributes, children}; a child is a tree or a text. @param {string} latex @returns {Tree} */
export function parse(latex) {
  const rest = tokens(latex);
  let before = "(";
  /** @type {() => Tree} */
  const row = () => {
    // up to the brace that closes it, or the end
    const children = [];
    while (rest.length && rest[0] !== "}") children.push(scripted(atom()));
    rest.shift();
    return node("mrow", children);
  };
  /** @type {() => Tree} */
  const atom = () => {
    const token = rest.shift();
    if (token === undefined) return node("mrow", []);
    const follows = before;
    before = token;
    if (token === "{") return row();
    if (token === "\\frac") return node("mfrac", [atom(), atom()]);
    if (token === "\\sqrt") return node("msqrt", [atom()]);
    if (SPACES.has(token)) return node("mspace", [], { width: SPACES.get(token) });
    const [, text] = token.match(UPRIGHT) ?? [];
    if (text !== undefined) return node("mtext", [text.replaceAll(" ", "\u00a0")]);
    return symbol(token, follows, rest[0]);
  };
  const scripted = (/** @type {Tree} */ base) => {
    const hasLimits = WITH_LIMITS.includes(before);
    let below = null,
      above = null;
    while (rest[0] === "_" || rest[0] === "^") {
      if (rest.shift() === "_") below = atom();
      else above = atom();
    }
    if (hasLimits && below) return node("munder", [base, below]);
    if (below && above) return node("msubsup", [base, below, above]);
    return below ? node("msub", [base, below]) : above ? node("msup", [base, above]) : base;
  };
  return node("math", [row()], { displaystyle: "true" });
}

/** The symbol as a person would type it, for those who hear it. @param {string} latex */
export const plain = latex => latex.replace(/[\^_{}]/g, "");

function symbol(/** @type {string} */ token, /** @type {string} */ follows, /** @type {string} */ next) {
  if (/^\\[a-zA-Z]/.test(token) && !SIGNS.has(token)) return node("mo", [token.slice(1)], operator(follows, next));
  const tag = /^[\d.]|^\\infty/.test(token) ? "mn" : /^\p{L}/u.test(token) ? "mi" : "mo";
  const isSign = "-+".includes(token) && /[({=+]$|^\\text/.test(follows); // of a number, and so close to it
  return node(tag, [SIGNS.get(token) ?? token], isSign ? { form: "prefix" } : ATTRIBUTES.get(token));
}

/** TeX's thin space around the name of a function, but none before its bracket nor at either end. @param {string} follows */
function operator(follows, next = "(") {
  const [lspace, rspace] = [!/[({]$/.test(follows), next !== "("].map(isApart => (isApart ? "0.1667em" : "0"));
  return { lspace, rspace };
}

/** @param {string} tag @param {(Tree | string)[]} children @returns {Tree} */
const node = (tag, children, attributes = {}) => ({ tag, attributes, children });
