(grid) => {
  const frames = [...grid.parentNode.querySelectorAll(".frame.source")].map((each) => each.getBoundingClientRect());
  const isIn = ({ left, right, top, bottom }, frame) => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return frame.left < x && x < frame.right && frame.top < y && y < frame.bottom;
  };
  return [...grid.querySelectorAll("[data-row]")]
    .filter((cell) => frames.some((frame) => isIn(cell.getBoundingClientRect(), frame)))
    .map(({ dataset }) => [Number(dataset.row), Number(dataset.column)]);
}