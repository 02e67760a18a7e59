// Lines of places: a vector on the sheet in a hand, four places a line.
import { element } from "../elements/element.js";
import { drawHandCell, drawOpened } from "./handCell.js";

const A_LINE = 4;

// `places` are those that are shown, of all that `labels` name; faceOf(place) is null before they are there.
export function drawPlaces({ name, part, labels, places, faceOf, idOf }, state) {
  const table = element("table", "places"),
    body = element("tbody"),
    missing = labels.length - places.length;
  table.setAttribute("role", "grid");
  table.append(element("caption", "", missing ? `${name}: the largest; ${missing} more` : name), body);
  for (let from = 0; from < places.length; from += A_LINE) {
    const here = places.slice(from, from + A_LINE),
      line = element("tr"),
      head = element("th", "", rangeOf(here.map(place => labels[place])));
    head.scope = "row";
    const faces = here.map(place => faceOf?.(place)),
      open = here.findIndex(place => state.isOpen(idOf(place)));
    line.append(head, ...here.map((place, nth) => drawHandCell(faces[nth], idOf(place), state)));
    body.append(line, ...(faces[open]?.cell ? [drawOpened(A_LINE + 1, state.workings(part, faces[open]))] : []));
  }
  return table;
}

// Places in a row as the first and the last of them.
function rangeOf(labels) {
  const isRow = labels.every((label, nth) => !nth || Number(label) === Number(labels[nth - 1]) + 1);
  return isRow && labels.length > 1 ? `${labels[0]}–${labels.at(-1)}` : labels.join(", ");
}
