// How a statistic of a head was computed: the numbers that it is the mean of, over the page.
import { percent, short } from "../model/numeral.js";
import { STATISTICS, seenBy } from "../model/headStatistics.js";
import { button, h, redraw } from "../dom/element.js";
import { nameOf } from "./headTile.js";

// open({name, head, statistic}, at) shows it beside an element.
export function makeWorking(tools) {
  const box = h("div", {
    class: "menu working",
    popover: "auto",
    role: "group",
    tabIndex: -1,
    "aria-label": "How this was computed",
  });
  let asked = /** @type {any} */ (null),
    shown = /** @type {any} */ (null),
    opener = /** @type {any} */ (null),
    isFocused = false; // before it closes
  const working = {
    element: box,
    onChange: () => {},
    opened: () =>
      asked &&
      shown?.statistic && {
        ...asked,
        cells: shown.statistic.parts
          .filter(({ key }) => key !== null)
          .map(({ row, key }) => ({ name: asked.name, index: [asked.head, row, key] })),
      },
    open(which, at) {
      asked = which;
      opener = at;
      draw();
      box.showPopover();
      const { left, bottom, top } = at.getBoundingClientRect(),
        { clientWidth, clientHeight } = document.documentElement,
        [width, height] = [box.offsetWidth, box.offsetHeight],
        isBelow = bottom + height + 12 < clientHeight || clientHeight - bottom > top;
      Object.assign(box.style, {
        left: `${Math.max(8, Math.min(left, clientWidth - width - 8))}px`,
        top: `${isBelow ? bottom + 4 : Math.max(8, top - height - 4)}px`,
        maxHeight: `${(isBelow ? clientHeight - bottom : top) - 12}px`,
      });
      box.focus({ preventScroll: true });
      working.onChange();
    },
    close() {
      asked = null;
      if (box.matches(":popover-open")) box.hidePopover();
    },
    update(pass, all, query) {
      shown = { pass, all, query };
      if (asked) draw();
    },
  };
  box.addEventListener("beforetoggle", () => {
    isFocused = box.contains(box.getRootNode().activeElement);
  });
  box.addEventListener("toggle", ({ newState }) => {
    if (newState === "open") return;
    asked = null;
    if (isFocused) opener.focus({ preventScroll: true }); // Chromium doesn't, in a shadow tree
    working.onChange();
  });
  const draw = () => {
    const content = shown.all.find(each => each.name === asked.name && each.head === asked.head);
    shown.statistic = content?.statistics.find(({ name, value }) => name === asked.statistic && value !== null);
    if (!shown.statistic) return working.close();
    redraw(box, drawWorking(shown, content, tools));
  };
  return working;
}

function drawWorking({ pass, statistic, query }, content, tools) {
  const { name, head } = content,
    { name: id, value, parts } = statistic,
    { axes } = pass.stages.get(name),
    wordOf = row => axes[1].labels[row],
    isSpread = id === "spread";
  const numberOf = ({ row, key, value }) => {
    const weights = pass.row(name, [head, row, 0]),
      at = key ?? weights.indexOf(Math.max(...weights)),
      text = isSpread ? percent(value) : short(value),
      about = isSpread ? `the row of ${wordOf(row)}` : `${wordOf(row)} gives ${axes[2].labels[at]}`;
    return button(text, () => tools.pick(name, [head, row, at]), "link", {
      title: about,
      "aria-label": `${text}: ${about}`,
    });
  };
  const summands = parts.flatMap((part, nth) => [nth > 0 && " + ", numberOf(part)]),
    row = (parts.find(each => each.row === query) ?? parts[parts.length - 1]).row;
  return [
    h(
      "p",
      { class: "name" },
      `${STATISTICS[id].name}, ${nameOf(content)}${pass.other ? " of B" : ""}: `,
      h("strong", {}, percent(value)),
    ),
    h("p", {}, "(", summands, `) ÷ ${parts.length} = ${short(value)}`),
    h("p", { class: "note" }, isSpread ? drawEntropy(pass, name, head, row) : EXPLAINED[id]),
  ];
}

const EXPLAINED = {
  previous: "The attention weight that each row gives the token before it. The first row has none before it.",
  itself: "The attention weight that each row gives its own token.",
  first: "The attention weight that each row gives the first token.",
};

// The spread of one row, written out.
function drawEntropy(pass, name, head, row) {
  const seen = seenBy(pass.row(name, [head, row, 0]), key => pass.isHidden(name, [head, row, key])),
    terms = seen.filter(weight => weight > 0).map(weight => `${short(weight)} ln ${short(weight)}`),
    written = terms.length > 4 ? [...terms.slice(0, 2), "…", terms[terms.length - 1]] : terms,
    word = pass.stages.get(name).axes[1].labels[row];
  return `A row’s spread is its entropy over that of an even row. Of “${word}”: −(${written.join(" + ")}) ÷ ln ${seen.length}. A row that sees one token alone has 0\u00a0%.`;
}
