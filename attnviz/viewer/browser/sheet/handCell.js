// A number of the sheet in a hand: a button as large as a finger, which opens how the number was computed.
import { element } from "../elements/element.js";

// `id` names it among all, `state` knows which is open, and what stands there in a pass beside it.
export function drawHandCell(face, id, { isOpen, tap, inA }) {
  const cell = element("td", face && !face.cell ? face.kind : "");
  if (!face?.cell) return cell;
  const act = element("button", `stop ${face.kind}${face.marked ? " marked" : ""}`, face.text),
    now = isOpen(id);
  act.type = "button";
  act.dataset.act = id;
  act.dataset.cell = `${face.cell.name}[${face.cell.index}]`;
  act.setAttribute("aria-expanded", now);
  act.onclick = () => tap(id, face.cell);
  const there = inA(face);
  if (there) {
    act.prepend(element("small", "", there), " ");
    act.setAttribute("aria-label", `A ${there}, B ${face.text}`);
  }
  if (face.was) act.append(" ", element("s", "", face.was));
  Object.assign(act.style, { backgroundColor: face.colour ?? "", color: face.ink ?? "" });
  cell.append(act);
  return cell;
}

// The row below the one that was tapped.
export function drawOpened(width, made) {
  const line = element("tr", "opened"),
    cell = element("td");
  cell.colSpan = width;
  cell.append(made);
  line.append(cell);
  return line;
}
