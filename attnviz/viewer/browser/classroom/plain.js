// Plain: runs as text.

export function plainOf(runs) {
  return runs.map(([, text]) => text.text ?? text).join("");
}
