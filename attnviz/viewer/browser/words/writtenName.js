// A name that a model wrote: bold where it was held out, italic where it stands in no list. A click takes it as the text.
import { button } from "../elements/button.js";

export function drawName({ text, is }, take) {
  const name = button(text || "(nothing)", () => take(text), `link written ${is.replaceAll(" ", "-")}`);
  name.title = is;
  return name;
}
