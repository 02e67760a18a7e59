// Labels: what the rows and the columns of a matrix are called. Those of the selected cell are always there.
import { element } from "../elements/element.js";
import { bandOf } from "./slot.js";
import { whenOther } from "../elements/whenOther.js";

// One strip of labels, along "rows" or "columns".
export function makeLabels(along) {
  const strip = element("div", `labels of-${along}`);
  strip.setAttribute("aria-hidden", "true"); // a cell says where it is
  const place = whenOther(([names, size]) => {
    strip.replaceChildren(
      ...names.map((label, n) => {
        const line = element("span", "", label);
        line.style[along === "rows" ? "top" : "left"] = `${n * size}px`;
        return line;
      }),
    );
  });
  const write = (names, { upright, all }, size) => {
    strip.classList.toggle("upright", upright);
    strip.classList.toggle("only-lit", !all);
    place([names, size]);
  };
  const light = places => {
    [...strip.children].forEach((line, place) => {
      line.classList.toggle("lit", places.has(place));
    });
  };
  return { element: strip, write, light };
}

// The heads' names over their bands of columns.
export function drawBands(axis, width, head) {
  const band = bandOf(axis);
  const count = band ? axis.labels.length / band : 0;
  return Array.from({ length: count }, (_, place) => {
    const name = element(
      "span",
      place === head ? "band lit" : "band",
      width * band > 50 ? `head ${place + 1}` : width * band > 14 ? String(place + 1) : "",
    );
    Object.assign(name.style, { left: `${place * band * width}px`, width: `${band * width - 3}px` });
    return name;
  });
}
