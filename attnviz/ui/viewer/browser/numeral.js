// Numerals: a number as a cell shows it, exactly as `short` of attnviz/core/numerals.py writes it.

export function short(value) {
  const size = Math.abs(value);
  const text = size >= 1e4 ? scientific(size) : fixed(size, size >= 1000 ? 0 : size >= 100 ? 1 : 2);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

function fixed(size, decimals) {
  return toEven(size.toFixed(decimals + MORE), size.toFixed(decimals));
}

function scientific(size) {
  const [exact, exponent] = size.toExponential(1 + MORE).split("e+");
  const [rounded, itsExponent] = size.toExponential(1).split("e+");
  const mantissa = toEven(exact, rounded);
  return `${mantissa}e${mantissa === rounded ? itsExponent : exponent}`;
}

const MORE = 40; // decimals: a double that is not half-way between two shorter numbers differs from one that is before that

// JavaScript rounds a number that is half-way up, Python to the even digit.
function toEven(exact, rounded) {
  const kept = exact.slice(0, -MORE), dropped = exact.slice(-MORE);
  return /^50*$/.test(dropped) && /[02468]\.?$/.test(kept) ? kept.replace(/\.$/, "") : rounded;
}
