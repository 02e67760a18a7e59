"""The contrast of all that is written, as it comes out: of colours over each other, seen through, pointed at, held."""

_FAINT = r"""() => {
  const colour = (text) => {
    const [red, green, blue, alpha = 1] = text.replace("srgb", "").match(/-?[\d.]+(?:e-?\d+)?/g).map(Number);
    return [...[red, green, blue].map((each) => (text.startsWith("color(") ? each : each / 255)), alpha];
  };
  const over = ([r, g, b, alpha], below) => [r, g, b].map((each, i) => each * alpha + below[i] * (1 - alpha));
  const light = (each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * light(r) + 0.7152 * light(g) + 0.0722 * light(b);
  const ratio = (pair) => {
    const [dark, bright] = pair.map(luminance).sort((one, other) => one - other);
    return (bright + 0.05) / (dark + 0.05);
  };
  const chainOf = (each) => (each ? [...chainOf(each.parentElement), each] : []);
  const grounds = ({ backgroundColor, backgroundImage }) => {
    const drawn = backgroundImage.includes("gradient") ? backgroundImage.match(/(?:rgba?|color)\([^)]*\)/g) : null;
    return drawn ?? [backgroundColor];
  };
  // Pairs of what is behind an ink and of the ink on it, through the opacities of all that both are in.
  const painted = ([each, ...within], behind, ink) => {
    const seen = getComputedStyle(each);
    return grounds(seen).flatMap((ground) => {
      const here = over(colour(ground), behind);
      const pairs = within.length ? painted(within, here, ink) : [[here, over(ink, here)]];
      return pairs.map((pair) => pair.map((top) => over([...top, Number(seen.opacity)], behind)));
    });
  };
  const found = new Set();
  const note = (each, at, kind, ink, least) => {
    const worst = Math.min(...painted(chainOf(at), [1, 1, 1], colour(ink)).map(ratio));
    const path = chainOf(each).slice(-3).map(({ localName, classList }) => [localName, ...classList].join("."));
    if (worst < least - 0.005) found.add(`${kind} ${worst.toFixed(2)} < ${least}: ${path.join(" > ")}`);
  };
  const isWritten = (each) => [...each.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  for (const each of document.body.querySelectorAll(":not(option, style, script, annotation)")) {
    if (!each.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (each.closest(":disabled, .heard, .pages")) continue; // what can't be used may be faint
    const seen = getComputedStyle(each), size = parseFloat(seen.fontSize), isBold = Number(seen.fontWeight) >= 700;
    const least = size >= 24 || (size >= 18.66 && isBold) ? 3 : 4.5;
    const ink = each instanceof SVGElement ? seen.fill : seen.color;
    if (isWritten(each) && size > 2) note(each, each, "text", ink, least);
    const isControl = each.matches("button, select, input, summary, [tabindex='0']");
    if (isControl && seen.outlineStyle === "solid") note(each, each.parentElement, "ring", seen.outlineColor, 3);
    const isBox = each.matches("select, .typed, input:not([type=checkbox], [type=radio], [type=file])");
    if (isBox && parseFloat(seen.borderTopWidth)) note(each, each.parentElement, "edge", seen.borderTopColor, 3);
  }
  return [...found];
}"""
_IN = """(state) => {
  const all = [...document.querySelectorAll("style")].map((style) => {
    const also = style.cloneNode();
    also.textContent = style.textContent.replaceAll(state, ":not(.none)"); // of as much weight
    style.after(also);
    return also;
  });
  const found = (%s)();
  for (const each of all) each.remove();
  return found;
}"""


def faint(page):
    """What is written with a contrast below 4.5, or 3 if it is large, as it is, or were it pointed at or held; and the
    rings and edges of controls below 3.
    """
    return [page.evaluate(_FAINT), *(page.evaluate(_IN % _FAINT, state) for state in (":hover", ":focus-visible"))]
