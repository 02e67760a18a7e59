// Colours: a cell's own, and a text colour that can be read on it. A colour is [red, green, blue], each up to 255.

// A number's colour is laid over the page, the more strongly the larger the number is.
export function background(value, { scale, limit }, colours) {
  const isShare = scale === "share";
  const strength = isShare ? 0.95 * value : 0.9 * Math.min(Math.abs(value) / limit, 1);
  const hue = isShare ? colours.share : value < 0 ? colours.negative : colours.positive;
  return hue.map((channel, i) => Math.round(channel * strength + colours.page[i] * (1 - strength)));
}

// Black or white, whichever has more contrast: both have the same on a luminance of 0.179.
export function textOn(colour) {
  return luminance(colour) > 0.179 ? [0, 0, 0] : [255, 255, 255];
}

export function css(colour) {
  return `rgb(${colour.join(",")})`;
}

// A colour as CSS writes it, in numbers: a canvas understands all of its notations.
export function channels(text) {
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = text.trim() || "#fff";
  return [1, 3, 5].map((i) => Number.parseInt(probe.fillStyle.slice(i, i + 2), 16));
}

// Relative luminance, WCAG 2.2.
export function luminance(colour) {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
