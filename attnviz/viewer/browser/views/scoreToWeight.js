// From score to weight, a row for each key: its products as a chain of bars that ends in the score, the axis that scaling contracts,
// exp as a bar, and the bars side by side as attention weights. A dot that is dragged is what that number set by hand would be.
import { digits, percent, short } from "../model/numeral.js";
import { button, h, onceSettled, svgElement, write } from "../dom/element.js";
import { between, makeMotion } from "../dom/motion.js";
import { DOTS, FOOT, STRIP, TOP, endsIn, momentOf, preview, startOf, termsText } from "./scoreRows.js";

const BAR_PX = 26, // at most
  TICKS_ASIDE = 12, // of zero
  LANE_PX = 8, // of a term in a chain
  TERMS_PX = { from: 104, width: 208 }, // beside the words
  LETTER_PX = { label: 8.5, chain: 6.9 }, // at most
  RING_PX = 12,
  VALUE_PX = 48, // a number beside its dot
  BESIDE_PX = 15,
  MOVE_MS = 450,
  STEP = 0.1, // of an arrow key
  SLACK_PX = 3,
  SENT_MS = 250;
const px = number => Number(number.toFixed(2));
const place = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, px(["width", "height"].includes(name) ? Math.max(0, value) : value)); // a box may have no size yet
};

/** `actions` are those of the view. Returns {element, update(shown, heights, options)}; without anything to show it is hidden. */
export function makeScoreToWeight(actions) {
  const svg = svgElement("svg", { role: "group" }),
    scroll = h("div", { class: "rows" }, svg),
    hint = h("span", { class: "digits" }),
    back = button("As computed", () => takeBack(), "link"),
    box = h("div", { class: "score-to-weight", hidden: true }, scroll, h("p", { class: "hint" }, hint, back));
  let shown = null, // as computed
    held = null, // {key, value} of the dot that is moved
    layout = null,
    laid = "", // what the layout was made for
    parts = null;
  const motion = makeMotion({ element: box, draw, print }),
    settled = onceSettled(commit, SENT_MS);
  const seen = () => (held ? preview(shown, held) : shown),
    momentNow = () => momentOf(seen(), layout.right - layout.left, layout.row),
    rowAt = (moment, key) => layout.top + moment.row * (key + 0.5),
    stripAt = ({ row, rows }) => (layout.isOnTop ? TOP - 14 : layout.top + row * rows.length + FOOT + 2),
    barsFrom = ({ axis }) =>
      layout.left + Math.min(axis.length, DOTS * (layout.right - layout.left)) + (layout.isPhone ? 10 : 70);
  const actionsOf = () => shown.actions ?? actions, // of A beside B its own
    cellOf = key =>
      shown.phase > 1 ? [shown.attention, shown.attentionAt(key)] : [shown.stage, shown.rows[key].set.index],
    setAt = key => [shown.rows[key].set.name, shown.rows[key].set.index];

  function lay(width, heights, { isPhone, zoom, takesFocus }) {
    const hasTerms = width > 720,
      longest = Math.max(...shown.rows.map(({ label }) => label.length)),
      isOnTop = heights.isLong;
    layout = {
      ...heights,
      isPhone,
      takesFocus, // from a drag; not in a talk, where arrow keys change the step
      zoom, // of what it is drawn in, on the screen
      isOnTop,
      hasTerms,
      left: hasTerms ? TERMS_PX.from + TERMS_PX.width : Math.min(90, 16 + 8 * longest),
      right: width - (isPhone ? 72 : 76),
      width,
      top: TOP + (isOnTop && shown.phase > 1 ? STRIP.space : 0),
    };
    svg.setAttribute("height", heights.height * zoom);
    box.classList.toggle("many", isOnTop);
    box.style.setProperty("--hint", `${shown.phase > 1 && !isOnTop ? STRIP.space * zoom : 0}px`);
    box.style.setProperty("--zoom", String(zoom));
    svg.setAttribute("viewBox", `0 0 ${width} ${heights.height}`);
    scroll.style.maxHeight = `${heights.seen * zoom}px`;
    parts = makeParts(svg, shown, layout);
    for (const [key, { group, words, dot }] of parts.rows.entries()) {
      write(words[0], shortened(shown.rows[key].label, hasTerms ? 11 : 9)); // the words stay while all else moves
      group.onclick = () => actionsOf().pick(...(held ? setAt(key) : cellOf(key)));
      group.onpointerenter = () => actionsOf().point(...cellOf(key));
      group.onpointerleave = () => actions.point(null, null); // it may be hidden by then
      hold(dot, key);
    }
  }

  function draw(moment) {
    const { axis, chain, fade, exp, norm, row } = moment,
      { left, right, width, top } = layout,
      x = value => left + (value - axis.low) * axis.unit,
      bars = barsFrom(moment),
      strip = stripAt(moment),
      mix = (one, other) => one + (other - one) * norm;
    for (const { nth, line, text } of parts.ticks) {
      const at = x(nth * axis.apart);
      place(line, { x1: at, x2: at, y1: top, y2: top + row * moment.rows.length });
      place(text, { x: at, y: top + row * moment.rows.length + 15 });
      line.style.opacity = at < left - 1 || at > left + axis.length + 1 ? "0" : "1";
    }
    let before = 0;
    for (const [key, each] of moment.rows.entries()) {
      const { reach, words, terms, dot, ghost, bar } = parts.rows[key],
        middle = rowAt(moment, key),
        high = Math.min(0.66 * row, BAR_PX),
        lane = Math.min(high / Math.max(each.terms.length, 1), LANE_PX),
        start = middle - (lane * each.terms.length) / 2,
        grown = each.exp * (right - bars) * exp;
      let end = 0;
      for (const [nth, value] of each.terms.entries()) {
        const part = value * Math.max(0, Math.min(1, chain * each.terms.length - nth)),
          [from, to] = [x(end * axis.factor), x((end + part) * axis.factor)];
        place(terms[nth], {
          x: Math.min(from, to),
          width: Math.abs(to - from),
          y: start + nth * lane,
          height: lane - 1,
        });
        terms[nth].style.opacity = px(fade * each.seen);
        end += part;
      }
      const spot = chain < 1 && each.terms.length ? end : each.dot;
      dot.setAttribute("transform", `translate(${px(x(spot))} ${px(middle)})`);
      dot.style.opacity = px(each.seen);
      place(reach, { x: 0, width, y: middle - row / 2, height: row });
      for (const word of words) place(word, { y: middle + 5 });
      place(ghost, { x: bars, width: grown, y: middle - high / 2, height: high });
      ghost.style.opacity = px(norm);
      const share = Math.max(0, each.weight) * (right - left);
      place(bar, {
        x: mix(bars, left + before),
        width: mix(grown, share),
        y: mix(middle - high / 2, strip),
        height: mix(high, STRIP.height),
      });
      before += share;
    }
    place(parts.whole, { x: left, width: right - left, y: strip, height: STRIP.height });
    parts.whole.style.opacity = px(norm);
  }

  // Words and digits, at rest and under a finger.
  function print(moment) {
    if (!shown) return; // hidden while it moved
    const { axis } = moment,
      now = seen(),
      { phase } = now,
      { left, right, top, width, isPhone, hasTerms } = layout,
      x = value => left + (value - axis.low) * axis.unit,
      bars = barsFrom(moment),
      whole = right - left,
      isWeighed = phase > 1 || (phase === 0 && held !== null), // while it is dragged the weights to come are seen
      nameY = stripAt(moment) + STRIP.height + 14, // below the bar
      titleY = top - 10;
    write(parts.title, now.title);
    write(parts.barsTitle, isWeighed ? "attention weight" : phase ? "exp(score − max)" : "");
    place(parts.title, { x: left, y: titleY });
    place(parts.barsTitle, { x: bars, y: titleY });
    for (const { nth, line, text } of parts.ticks)
      write(text, line.style.opacity === "0" ? "" : short(nth * axis.apart).replace(/\.?0+$/, ""));
    let before = 0;
    for (const row of now.rows) {
      const { group, words: texts, dot, value, amount, name } = parts.rows[row.key],
        isSet = row.change >= 0 || held?.key === row.key,
        y = rowAt(moment, row.key) + 5,
        chain = row.terms.length ? [0, ...endsIn(row.terms)] : [],
        ends = [row.value, ...chain.map(end => end * axis.factor)].map(x),
        said = hasTerms ? (isSet ? handText(row) : row.isHidden ? "" : termsText(row.terms)) : "",
        words = hasTerms && said ? TERMS_PX.from + LETTER_PX.chain * said.length : LETTER_PX.label * row.label.length,
        room = left - words - 8, // before the axis
        [from, to] = [Math.min(...ends) - BESIDE_PX, Math.max(...ends) + BESIDE_PX], // of dot and chain
        isEnd = from - left + room > VALUE_PX && (row.value < 0 || to + VALUE_PX > (phase || isWeighed ? bars : width)),
        isLoose = now.isMovable && !row.isHidden && !actions.alone,
        share = row.weight * whole;
      if (hasTerms) write(texts[1], said);
      write(value, row.isHidden ? "hidden" : isPhone && phase ? "" : short(row.value));
      value.setAttribute("text-anchor", isEnd && !row.isHidden ? "end" : "start");
      place(value, { x: row.isHidden ? left : isEnd ? from : to, y });
      write(amount, row.isHidden ? "" : isWeighed ? percent(row.weight) : phase ? short(row.exp) : "");
      place(amount, { x: bars + (phase ? row.exp * (right - bars) : 0) + 7, y });
      const label = [`${row.label} ${percent(row.weight)}`, row.label].find(text => 8 * text.length + 10 < share);
      write(name, phase > 1 && label ? label : "");
      place(name, { x: left + before + share / 2, y: nameY });
      before += Math.max(0, share);
      group.classList.toggle("hidden", row.isHidden);
      dot.classList.toggle("loose", isLoose);
      for (const [attribute, text] of Object.entries(sliderOf(now, row)))
        if (isLoose) dot.setAttribute(attribute, text);
        else dot.removeAttribute(attribute);
    }
    write(parts.rest, now.sink && whole - before > 60 ? `${now.sink.name} ${percent(now.sink.weight)}` : "");
    place(parts.rest, { x: (left + before + right) / 2, y: nameY });
    setStop();
    svg.setAttribute("aria-label", captionOf(now));
    write(
      hint,
      now.isMovable && !actions.alone && layout.takesFocus
        ? `Drag a dot${isPhone ? "" : ", or use the arrow keys"}`
        : "",
    );
    back.hidden = Boolean(actions.alone) || !shown.rows.some(({ change }) => change >= 0);
  }

  // One dot is a tab stop: the arrow keys up and down lead to the others.
  const looseDots = () => parts.rows.map(({ dot }) => dot).filter(dot => dot.getAttribute("role"));
  function setStop(one = box.getRootNode().activeElement) {
    const all = looseDots(),
      stop = all.includes(one) ? one : (all.find(dot => dot === parts.rows[layout.chosen]?.dot) ?? all[0]);
    for (const dot of all) dot.setAttribute("tabindex", dot === stop ? "0" : "-1");
  }

  function move(key, value) {
    const { axis } = motion.target,
      within = Math.max(axis.low, Math.min(axis.low + axis.length / axis.unit, value));
    held = { key, value: Number(within.toFixed(2)) };
    motion.set({ ...momentNow(), axis });
  }
  function commit() {
    if (held) actions.set(shown.rows[held.key].set, held.value);
  }
  function release() {
    settled.drop();
    held = null;
    motion.go(momentNow());
  }
  function takeBack(row = shown.rows.findLast(({ change }) => change >= 0)) {
    actions.send("drop", row.change);
  }
  function hold(dot, key) {
    const isLoose = () => dot.getAttribute("role") !== null;
    let start = null;
    dot.onpointerdown = event => {
      if (!isLoose() || event.button > 0) return;
      event.preventDefault();
      dot.setPointerCapture(event.pointerId);
      if (layout.takesFocus) dot.focus({ focusVisible: false, preventScroll: true });
      start = { x: event.clientX, value: seen().rows[key].value, isMoved: false };
    };
    dot.onpointermove = event => {
      if (!start || (!start.isMoved && Math.abs(event.clientX - start.x) < SLACK_PX)) return;
      start.isMoved = true;
      move(key, start.value + (event.clientX - start.x) / layout.zoom / motion.target.axis.unit);
    };
    dot.onpointerup = () => {
      if (start?.isMoved) commit();
      start = null;
    };
    dot.onpointercancel = () => {
      if (start?.isMoved) release();
      start = null;
    };
    // Chromium heeds no touch-action inside an SVG.
    dot.addEventListener("touchmove", event => start && event.preventDefault(), { passive: false });
    dot.onblur = () => settled.now();
    dot.onkeydown = event => {
      const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key],
        next = { ArrowDown: 1, ArrowUp: -1 }[event.key],
        row = shown.rows[key];
      if (event.key === "Escape" && held) {
        start = null;
        release();
      } else if (event.key === "Escape" && row.change >= 0) takeBack(row);
      else if (by) {
        move(key, seen().rows[key].value + by);
        settled.soon();
      } else if (next) {
        const all = looseDots();
        (all[all.indexOf(dot) + next] ?? dot).focus();
        setStop();
      } else if (event.key === "Enter" || event.key === " ") actions.pick(...cellOf(key));
      else return;
      event.preventDefault();
      event.stopPropagation(); // on the page arrow keys lead to another step
    };
  }

  // Draws what is seen in a new layout.
  function layAgain(next, heights, { width, isPhone, zoom, takesFocus }, isSame) {
    const signs = next.rows.map(({ terms }) => terms.map(({ value }) => value < 0)),
      needed = JSON.stringify([next.words, next.phase, signs, heights, width, isPhone, zoom, takesFocus]);
    if (needed === laid) return;
    const active = box.getRootNode().activeElement,
      focused = parts?.rows.findIndex(({ dot }) => dot === active) ?? -1,
      before = motion.target;
    laid = needed;
    lay(width, heights, { isPhone, zoom, takesFocus });
    if (isSame) draw(between(before, momentNow(), 0));
    parts.rows[focused]?.dot.focus({ preventScroll: true });
  }

  return {
    element: box,
    /** `next` is from rowsOf, null where there is nothing to show; `isCalm` is whether it is seen at once, as in a page that was just opened. */
    update(
      next,
      heights,
      { isCalm = false, chosen = 0, width = 0, isPhone = false, zoom = 1, takesFocus = true } = {},
    ) {
      const isSame = shown !== null && shown.words === next?.words;
      if (shown?.pass !== next?.pass || !isSame) {
        settled.drop();
        held = null;
      }
      const isNew = shown === null;
      box.hidden = !next;
      shown = next;
      if (!next) return;
      layAgain(next, heights, { width, isPhone, zoom, takesFocus }, isSame);
      if (layout.chosen !== chosen && layout.isLong) {
        const y = layout.top + layout.row * chosen,
          top = scroll.scrollTop / zoom;
        if (y < top || y + layout.row > top + layout.seen) scroll.scrollTop = (y - layout.seen / 2) * zoom;
      }
      layout.chosen = chosen;
      for (const [key, { words }] of parts.rows.entries()) words[0].classList.toggle("chosen", key === chosen);
      const target = momentNow();
      if (isCalm || !(isSame || isNew)) return motion.set(target);
      if (isNew) motion.set(startOf(next, target, layout));
      if (JSON.stringify(target) === JSON.stringify(motion.target)) {
        if (!motion.isMoving) motion.set(target);
      } else if (target.norm && !motion.target.exp) {
        const after = () => motion.go(target, { ms: MOVE_MS });
        motion.go({ ...target, norm: 0 }, { ms: MOVE_MS, isQuiet: true, after });
      } else motion.go(target, { ms: MOVE_MS });
    },
  };
}

const shortened = (text, most) => ([...text].length > most ? `${[...text].slice(0, most - 1).join("")}…` : text);

const handText = ({ before, change }) =>
  `set by hand${change >= 0 && before !== undefined ? `, was ${short(before)}` : ""}`;

const sliderOf = ({ phase }, { label, value, weight }) => ({
  role: "slider",
  tabindex: "-1",
  "aria-label": `Score of “${label}”`,
  "aria-valuenow": String(value),
  "aria-valuetext": phase > 1 ? `${digits(value)}, attention weight ${percent(weight)}` : digits(value),
});

function captionOf({ rows, phase, query, title }) {
  const told = rows.map(({ label, value, exp, weight, isHidden }) => {
    if (isHidden) return `${label} hidden`;
    return `${label} ${short(value)}${phase > 1 ? `, weight ${percent(weight)}` : phase ? `, exp ${short(exp)}` : ""}`;
  });
  return `“${query}”, ${title}: ${told.join("; ")}`;
}

function makeParts(svg, { rows }, { hasTerms, row }) {
  const group = (className, ...children) => svgElement("g", { class: className }, ...children),
    text = className => svgElement("text", { class: className }),
    rect = className => svgElement("rect", { class: className });
  const ticks = Array.from({ length: 2 * TICKS_ASIDE + 1 }, (_, i) => ({
    nth: i - TICKS_ASIDE,
    line: svgElement("line", { class: i === TICKS_ASIDE ? "zero" : "" }),
    text: text("tick digits"),
  }));
  const rowOf = ({ terms }) => {
    const words = [text("label"), ...(hasTerms ? [text("chain digits")] : [])],
      bars = terms.map(({ value }) => rect(value < 0 ? "minus" : "plus")),
      dot = group(
        "dot",
        svgElement("circle", { r: Math.min(RING_PX, row / 2), class: "ring" }),
        svgElement("circle", { r: 5.5 }),
      );
    const made = { reach: rect("reach"), ghost: rect("ghost"), bar: rect("bar"), value: text("value digits") },
      amount = text("weight digits");
    for (const [nth, word] of words.entries()) word.setAttribute("x", String(nth * TERMS_PX.from));
    const all = group("key", made.reach, ...words, ...bars, made.ghost, made.bar, made.value, amount, dot);
    return { ...made, group: all, words, terms: bars, dot, amount, name: text("name digits") };
  };
  const made = {
    ticks,
    title: text("tick title"),
    barsTitle: text("weight title"),
    whole: rect("ghost"),
    rest: text("rest digits"),
    rows: rows.map(rowOf),
  };
  svg.replaceChildren(
    ...ticks.flatMap(({ line, text }) => [line, text]),
    made.title,
    made.barsTitle,
    made.whole,
    ...made.rows.map(row => row.group),
    ...made.rows.map(row => row.name),
    made.rest,
  );
  return made;
}
