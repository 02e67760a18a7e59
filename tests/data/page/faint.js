(place) => {
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
  const grounds = ({ backgroundColor, backgroundImage }) => {
    const drawn = backgroundImage.includes("gradient") ? backgroundImage.match(/(?:rgba?|color)\([^)]*\)/g) : null;
    return (drawn ?? [backgroundColor]).map(colour);
  };
  const parentOf = (each) => each.parentElement ?? each.getRootNode().host;
  // What an element is seen through, from the page inwards, but for what leaves all as it is; the same of each group.
  const layers = new Map(), groups = new Map();
  const layersOf = (each) => {
    if (!each) return [];
    if (layers.has(each)) return layers.get(each);
    const around = layersOf(parentOf(each)), seen = getComputedStyle(each);
    const layer = [grounds(seen), Number(seen.opacity)];
    const isNothing = layer[1] === 1 && layer[0].every(([, , , alpha]) => alpha === 0);
    const all = isNothing ? around : [...around, layer], name = JSON.stringify(all);
    if (!groups.has(name)) groups.set(name, all);
    layers.set(each, groups.get(name));
    return groups.get(name);
  };
  // Pairs of what is behind an ink and of the ink on it, through the opacities of all that both are in.
  const painted = ([layer, ...within], behind, ink) => {
    if (!layer) return [[behind, over(ink, behind)]];
    const [all, opacity] = layer;
    return all.flatMap((ground) => painted(within, over(ground, behind), ink)
      .map((pair) => pair.map((top) => over([...top, opacity], behind))));
  };
  const ratios = new Map();
  const worstOf = (behind, ink) => {
    if (!ratios.has(behind)) ratios.set(behind, new Map());
    const known = ratios.get(behind);
    if (!known.has(ink)) known.set(ink, Math.min(...painted(behind, [1, 1, 1], colour(ink)).map(ratio)));
    return known.get(ink);
  };
  const chainOf = (each) => (each ? [...chainOf(parentOf(each)), each] : []);
  const found = new Set();
  const note = (each, at, kind, ink, least) => {
    const worst = worstOf(layersOf(at), ink);
    if (worst >= least - 0.005) return;
    const path = chainOf(each).slice(-3).map(({ localName, classList }) => [localName, ...classList].join("."));
    found.add(`${kind} ${worst.toFixed(2)} < ${least}: ${path.join(" > ")}`);
  };
  const isWritten = (each) => [...each.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
  const within = (root) => [...root.querySelectorAll(":not(option, style, script, annotation)")]
    .flatMap((each) => [each, ...(each.shadowRoot ? within(each.shadowRoot) : [])]);
  for (const each of within(place)) {
    const isControl = each.matches("button, select, input, summary, [tabindex='0']");
    const isBox = each.matches("select, .typed, input:not([type=checkbox], [type=radio], [type=file])");
    if (!isWritten(each) && !isControl && !isBox) continue;
    if (!each.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (each.closest(":disabled, .sr-only, .pages")) continue; // what can't be used may be faint
    if (each.closest(".textpoint")) continue; // a chart draws its cells on an image (test_colours holds their digits)
    const seen = getComputedStyle(each), size = parseFloat(seen.fontSize), isBold = Number(seen.fontWeight) >= 700;
    const isIcon = each.matches("[data-testid=stIconMaterial]"); // of Streamlit, written as a word
    const least = isIcon || size >= 24 || (size >= 18.66 && isBold) ? 3 : 4.5;
    const ink = each instanceof SVGElement ? seen.fill : seen.color;
    if (isWritten(each) && size > 2) note(each, each, "text", ink, least);
    if (isControl && seen.outlineStyle === "solid") note(each, parentOf(each), "ring", seen.outlineColor, 3);
    if (isBox && parseFloat(seen.borderTopWidth)) note(each, parentOf(each), "edge", seen.borderTopColor, 3);
  }
  return [...found];
}