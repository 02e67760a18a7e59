// Colours: a cell's own, and a text colour that can be read on it.

function paint(cell, value, matrix, colours) {
  if (matrix.scale === "flag" || value === null) return;
  const strength = matrix.scale === "share" ? 0.95 * value : 0.9 * Math.min(Math.abs(value) / matrix.limit, 1);
  const hue = matrix.scale === "share" ? colours.share : value < 0 ? colours.negative : colours.positive;
  const mixed = hue.map((channel, i) => channel * strength + colours.page[i] * (1 - strength));
  cell.style.backgroundColor = `rgb(${mixed.map(Math.round).join(",")})`;
  cell.style.color = luminance(mixed) > 0.179 ? "#000" : "#fff"; // where contrast with black and with white are equal
}

function readable(colours, page) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = page.trim() || "#fff";
  const hex = probe.fillStyle;
  return { ...colours, page: [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)) };
}

// Relative luminance, WCAG 2.2.
function luminance(rgb) {
  const [r, g, b] = rgb.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
