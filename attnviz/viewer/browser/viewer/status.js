// The status: what a pointer or the keyboard is on, in full.
import { element, write } from "../elements/element.js";

export function makeStatus({ onPoint }) {
  const line = element("p", "status"),
    text = element("span"); // not there where its line has room for a word alone
  line.append(text);
  let shown = null,
    pointed = null;
  const show = () => {
    write(text, pointed && shown ? described(shown, pointed) : "");
  };
  onPoint((name, index) => {
    pointed = index && { name, index };
    show();
  });
  const update = (_pass, _where, look) => {
    shown = look;
    show();
  };
  return { element: line, update };
}

function described({ pass, nameOf, shown }, { name, index }) {
  if (!shown(name, index)) return nameOf(name, index);
  const value = pass.number(name, index);
  const number =
    value === undefined
      ? "on its way"
      : pass.stages.get(name).scale === "flag"
        ? value
          ? "visible"
          : "hidden"
        : String(value).replace("-Infinity", "−inf: a hidden key");
  return `${nameOf(name, index)} = ${number}`;
}
