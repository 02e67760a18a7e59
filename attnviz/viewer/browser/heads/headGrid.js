// All layers and heads of a recording as heatmaps, in their places or sorted by a statistic; a head opens large, or exactly.
import { coloursOf, gradient } from "../dom/colour.js";
import { choice, h, rovingFocus, setTabStop, write } from "../dom/element.js";
import { cellText, isWithin, nameOf, namesIn, rangeOf, readLayers, sortedHeads, STATISTICS } from "./headPatterns.js";
import { valueText } from "./headPatterns.js";
import { cellAt, drawPattern, drawStatistics, makeLargeHead } from "./largeHead.js";

const ORDERS = ["layers", "highest first", "lowest first"],
  SCALES = ["one scale", "each its own"];

/** Draws all heads of `data` in `main`. `exact` opens a head of the layer that is in the page number by number: open(head), for data.exact.
 * Returns {back(), focus()}: back() leads from a head to all. */
export async function mountHeads(main, data, { open = /** @type {((head: any) => void) | null} */ (null) } = {}) {
  const layers = await readLayers(data),
    heads = layers.flatMap(each => each.heads),
    names = namesIn(heads),
    largest = Math.max(...heads.map(({ scale }) => scale)) || 1;
  const state = {
    statistic: names.includes("effect") ? "effect" : names[0],
    order: ORDERS[names.includes("effect") ? 1 : 0],
    scale: SCALES[0],
    limit: 0, // of the filter, a part of the statistic's range
  };
  let entered = null;
  let shown = heads;
  const tiles = new Map(heads.map(head => [head, makeTile(head)]));
  const limitOf = ({ scale }) => (state.scale === SCALES[0] ? largest : scale || 1);

  function makeTile(head) {
    const canvas = h("canvas", { class: Math.max(...head.shape) <= 32 ? "pixels" : "" }),
      bar = h("span", { class: "bar" }),
      caption = h("span", { class: "caption" }),
      isExact = head.layer === data.exact;
    return h(
      "button",
      {
        type: "button",
        class: isExact ? "head exact" : "head",
        onclick: () => enter(head),
        canvas,
        bar,
        caption,
        of: head,
      },
      canvas,
      h("span", { class: "track" }, bar),
      caption,
    );
  }
  const summary = head =>
    names.map(name => `${STATISTICS[name].name} ${valueText(name, head.statistics[name])}`).join(" · ");

  // --- What is chosen above the heads
  const controls = h("div", { class: "controls" }),
    count = h("output"),
    slider = h("input", { type: "range", min: 0, max: 100, value: 0 }),
    select = h(
      "select",
      { "aria-label": "Statistic" },
      names.map(name => h("option", { value: name, selected: name === state.statistic }, STATISTICS[name].name)),
    ),
    about = h("span", { class: "about" }),
    legend = h("span", { class: "legend" }),
    pointed = h("h2", { class: "pointed" }),
    cellLine = h("p", { class: "cell-line" }),
    preview = h("canvas"),
    list = h("dl"),
    aside = h(
      "section",
      { class: "of-head", "aria-label": "The head" },
      pointed,
      cellLine,
      preview,
      list,
      h("p", { class: "hint" }, HINT),
    ),
    box = h("div", { class: "grid-of-heads", role: "group", "aria-label": "All heads" });
  select.onchange = () =>
    set({ statistic: select.value, limit: 0, order: state.order === ORDERS[0] ? ORDERS[1] : state.order });
  slider.oninput = () => set({ limit: slider.value / 100 });
  const rescale = scale => {
    set({ scale });
    paint();
  };
  const set = parts => {
    Object.assign(state, parts);
    draw();
  };
  const orders = h("span"),
    scales = h("span");
  if (names.length)
    controls.append(
      h("label", {}, "Statistic ", select),
      about,
      h("span", {}, "Order ", orders),
      h("label", {}, "Filter ", slider, count),
    );
  controls.append(h("span", {}, "Colours ", scales, legend));

  // --- The heads
  function draw() {
    const { statistic, order, limit } = state,
      [low, high] = rangeOf(heads, statistic),
      isAtLeast = order !== ORDERS[2],
      bound = isAtLeast ? low + limit * (high - low) : high - limit * (high - low),
      isKept = head => limit === 0 || isWithin(head, statistic, bound, isAtLeast),
      reach = Math.max(Math.abs(low), Math.abs(high)) || 1,
      kept = heads.filter(isKept);
    for (const [head, tile] of tiles) {
      const value = head.statistics[statistic];
      tile.bar.style.width = `${(100 * Math.abs(value ?? 0)) / reach}%`;
      tile.classList.toggle("faint", !isKept(head));
      write(tile.caption, order === ORDERS[0] ? "" : `${head.layer}.${head.head}  ${valueText(statistic, value)}`);
      tile.setAttribute("aria-label", `${nameOf(head)}: ${summary(head)}`);
    }
    const isInPlaces = order === ORDERS[0] || !names.length;
    shown = isInPlaces ? heads : sortedHeads(kept, statistic, isAtLeast);
    box.classList.toggle("in-places", isInPlaces);
    box.replaceChildren(...(isInPlaces ? drawPlaces() : shown.map(head => tiles.get(head))));
    orders.replaceChildren(choice(ORDERS, order, each => set({ order: each })));
    scales.replaceChildren(choice(SCALES, state.scale, rescale));
    write(about, STATISTICS[statistic]?.about ?? "");
    slider.value = String(100 * limit);
    const n = isInPlaces ? kept.length : shown.length,
      limitText = limit ? `${isAtLeast ? "at least" : "at most"} ${valueText(statistic, bound)}: ` : "";
    write(count, `${limitText}${n} of ${heads.length} heads`);
    const stop = shown.find(head => head === entered) ?? shown[0];
    setTabStop([...tiles.values()], stop && tiles.get(stop));
  }
  function drawPlaces() {
    const across = Math.max(1, ...layers.map(each => each.heads.length)),
      lines = [h("span"), ...Array.from({ length: across }, (_, head) => numbered("column", "head", head))];
    box.style.setProperty("--across", String(across));
    box.style.setProperty("--layers", String(layers.length));
    for (const [nth, { heads: own, note, path }] of layers.entries()) {
      const name = numbered("row", "layer", nth, path),
        missing = across - own.length;
      lines.push(name, ...own.map(head => tiles.get(head)));
      if (!own.length)
        lines.push(h("p", { class: "nothing", style: { gridColumn: `span ${across}` } }, `${path}: ${note}`));
      else if (missing) lines.push(h("span", { style: { gridColumn: `span ${missing}` } }));
    }
    return lines;
  }
  function paint() {
    const colours = coloursOf(main);
    for (const [head, tile] of tiles) drawPattern(tile.canvas, head, limitOf(head), colours);
    legend.replaceChildren(
      "0 ",
      h("span", { class: "ramp", style: { backgroundImage: gradient("share", colours) } }),
      state.scale === SCALES[0] ? ` ${largest.toFixed(2)}` : " its largest",
    );
    preview.of = null;
    if (entered && !large.element.hidden) show(entered);
  }

  // --- One head
  const large = makeLargeHead({
      back,
      step: by => enter(shown[(shown.indexOf(entered) + by + shown.length) % shown.length], false),
    }),
    all = h(
      "div",
      { class: "all" },
      controls,
      h("p", { class: "narrow" }, "Layers down, heads across, counted from 0."),
      h("div", { class: "beside" }, box, aside),
    );
  const show = head => large.show(head, layers[head.layer], { limit: limitOf(head), colours: coloursOf(main) });
  function enter(head, takesFocus = true) {
    entered = head;
    if (open && head.layer === data.exact) return open(head);
    all.hidden = true;
    show(head);
    if (takesFocus) large.focus();
  }
  function back() {
    large.element.hidden = true;
    all.hidden = false;
    focus();
  }
  function focus() {
    const tile = tiles.get(entered);
    if (!tile?.isConnected) return;
    setTabStop([...tiles.values()], tile);
    tile.focus();
  }
  const say = (tile, event) => {
    const head = tile?.of ?? entered ?? shown[0],
      isExact = head?.layer === data.exact;
    aside.hidden = !head;
    if (!head) return;
    write(pointed, `${nameOf(head)}${isExact ? ", number by number" : ""}`);
    const at = tile && event && cellAt(tile.canvas, head, event),
      layer = layers[head.layer];
    if (preview.of !== head || preview.scale !== state.scale)
      drawPattern(preview, head, limitOf(head), coloursOf(main));
    Object.assign(preview, { of: head, scale: state.scale });
    list.replaceChildren(...drawStatistics(head));
    write(cellLine, at ? cellText(layer, head, at[0], at[1]) : [layer.path, layer.note].filter(Boolean).join(": "));
  };
  const tileAt = ({ target }) => target.closest("button.head");
  box.addEventListener("pointermove", event => say(tileAt(event), event));
  box.addEventListener("pointerleave", () => say(null));
  box.addEventListener("focusin", event => say(tileAt(event)));
  rovingFocus(box, () => {
    const drawn = shown.map(head => tiles.get(head)); // in rows, as the page has them
    return [...Map.groupBy(drawn, ({ offsetTop }) => offsetTop).values()];
  });
  main.addEventListener("keydown", event => {
    if (event.key !== "Escape" || large.element.hidden) return;
    event.preventDefault();
    back();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => requestAnimationFrame(paint));
  main.replaceChildren(all, large.element);
  draw();
  paint();
  say(null);
  return { back, focus };
}

// A number, the first with its noun where there is space.
const numbered = (className, noun, number, title = "") =>
  h("span", { class: className, title }, number ? "" : h("span", { class: "noun" }, `${noun} `), String(number));

const HINT = "Point at a head, or walk there with the arrow keys; Enter opens it.";
