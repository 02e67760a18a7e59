// Keys: where one leads inside a table whose last cell is `last`, or null if it leads nowhere.

export function destination(key, ctrl, [row, column], last) {
  const to = new Map([
    ["ArrowUp", [row - 1, column]],
    ["ArrowDown", [row + 1, column]],
    ["ArrowLeft", [row, column - 1]],
    ["ArrowRight", [row, column + 1]],
    ["Home", ctrl ? [0, 0] : [row, 0]],
    ["End", ctrl ? last : [row, last[1]]],
  ]).get(key);
  return to ? to.map((place, i) => Math.min(Math.max(place, 0), last[i])) : null;
}

export function picks(key) {
  return key === "Enter" || key === " ";
}
