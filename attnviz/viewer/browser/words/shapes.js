// Shapes: what there is in a pass and how large, folded away.
import { element } from "../elements/element.js";
import { typeset } from "../elements/formula.js";

export function drawShapes({ stages, symbol }, head) {
  const box = element("details", "shapes"),
    table = element("table");
  table.append(
    ...[...stages].map(([name, { title, meaning, axes, shape }]) => {
      const line = element("tr"),
        sign = element("td");
      sign.append(typeset(symbol(name, head)));
      line.append(
        sign,
        element("td", "", `${title}: ${meaning}`),
        element("td", "", shape.join(" × ")),
        element("td", "", axes.map(axis => axis.title).join(" × ")),
      );
      return line;
    }),
  );
  box.append(element("summary", "", "All shapes"), table);
  return box;
}
