// The script: the pass as a program, in colours, with a button that copies it.
import { button } from "../elements/button.js";
import { element, write } from "../elements/element.js";
import { copyText } from "../elements/link.js";

// Returns {show(script), end()}.
export function mountScript(box) {
  const code = element("code"), text = element("pre"), said = element("span", "copied");
  const copy = button("Copy", async () => {
    write(said, await copyText(window, code.textContent) ? "Copied." : "Select it and copy it by hand.");
    setTimeout(() => write(said, ""), 5000);
  });
  said.setAttribute("role", "status");
  text.append(code);
  const bar = element("div", "bar");
  bar.append(copy, said);
  box.replaceChildren(bar, text);
  return {
    show: ({ runs }) => code.replaceChildren(...runs.map(([kind, part]) => (kind ? element("span", kind, part) : document.createTextNode(part)))),
    end: () => {},
  };
}
