// A name that a model wrote: bold where it was held out, italic where it stands in no list,
// underlined twice where it is in the list that training draws from, but was not drawn. A click takes it as the text.
import { button } from "../elements/button.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";

// Puts names into a box: Tab leads to one of them, arrow keys to the others.
export function drawNames(box, texts, take) {
  const names = texts.map(each => drawName(each, take));
  box.setAttribute("role", "toolbar");
  box.setAttribute("aria-label", "Names");
  box.append(...names.flatMap(name => [" ", name]));
  rovingFocus(box, () => [names]);
  setTabStop(names, names[0]);
}

function drawName({ text, is }, take) {
  const name = button(text || "(nothing)", () => take(text), `link written ${is.replaceAll(" ", "-")}`);
  name.title = is;
  return name;
}
