// The sentence: all words of one that is too long for a column each, above the sheet, each as strong as its share.
import { background, css, textOn } from "../elements/colour.js";
import { element, write } from "../elements/element.js";
import { rovingFocus, setTabStop } from "../elements/roving.js";
import { percent } from "../pass/numeral.js";

// bring(key) gives a word a column.
export function makeSentence(bring) {
  const box = element("div", "sentence"),
    line = element("p", "words");
  line.setAttribute("aria-label", "The sentence");
  line.setAttribute("role", "group");
  const note = element("p", "note");
  box.append(line, note);
  box.hidden = true;
  let words = [];
  rovingFocus(line, () => [words]);
  const build = texts => {
    words = texts.map((text, key) => {
      const word = element("button", "", text);
      word.type = "button";
      word.onclick = () => bring(key);
      return word;
    });
    line.replaceChildren(...words.flatMap(word => [word, " "]));
  };
  return {
    element: box,
    // `columns` are the words that have a column; null where all have.
    update(given) {
      box.hidden = given === null;
      if (box.hidden) return;
      const {
          pass,
          where: { cell },
          look,
          attention,
          columns,
        } = given,
        texts = pass.document.words.key,
        stage = pass.stages.get(attention);
      const { unit, shared } = pass.document.words,
        does = shared ? "lets it ask" : "selects it";
      write(note, `A click on a ${unit} brings it into the sheet; a click on its column ${does}.`);
      if (String(words.map(({ textContent }) => textContent)) !== String(texts)) build(texts);
      words.forEach((word, key) => {
        const index = pass.indexAt(attention, { ...cell, key }),
          share = look.shown(attention, index) ? pass.number(attention, index) : undefined;
        const colour = share === undefined ? null : background(share, stage, look.colours);
        Object.assign(word.style, {
          backgroundColor: colour ? css(colour) : "",
          color: colour ? css(textOn(colour)) : "",
        });
        word.ariaDescription = share === undefined ? "" : percent(share);
        word.title = share === undefined ? "" : percent(share);
        word.classList.toggle("there", columns.includes(key));
        word.classList.toggle("asks", pass.document.words.shared && key === cell.query);
        word.classList.toggle("chosen", key === cell.key);
        word.setAttribute("aria-pressed", columns.includes(key));
      });
      setTabStop(words, words[cell.key]);
    },
  };
}
