// Half typed: whether a text may still become one of known words alone, with some more letters.

export function isHalfTyped(text, known) {
  const unknown = text
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word && !known.includes(word));
  return unknown.length > 0 && unknown.every(word => known.some(each => each.startsWith(word)));
}
