// The first screen: what attnviz is, the guess as an arc over the sentence, and a form for the user's own sentence.
import { button, h, scaleOf, setTabStop, svgElement } from "../dom/element.js";

const RISE = 0.22, // of an arc, as a part of its width
  LEAST_RISE = 34,
  HANGING = 2, // lines above the words at which an arc to a pointer ends, on its question mark
  LIFTED = 2; // and lines above the asking word at which it waits, where no words are in the way

export const drawWelcome = () =>
  h(
    "p",
    { class: "welcome" },
    h("strong", {}, "attnviz"),
    " how models like ChatGPT decide which words matter, with every number real",
  );

/** A form that opens the walkthrough with the typed sentence; the other address of `course.ownSentence` stays as it is. */
export function makeOwnSentence(address, open) {
  const query = new URLSearchParams(address),
    input = h("input", { id: "own-sentence", type: "text", placeholder: query.get("sentence") ?? "", maxLength: 200 });
  const onsubmit = event => {
    event.preventDefault(); // no page load
    if (input.value.trim()) query.set("sentence", input.value.trim());
    open(String(query));
  };
  return h(
    "form",
    { class: "own-sentence", onsubmit },
    h("label", { htmlFor: input.id }, "Type your own sentence"),
    h("div", {}, input, button("Open", null, "check", { type: "submit" })),
    h("p", { class: "note" }, "Set d_model, heads, mask and seed, and open every number."),
  );
}

/** Draws a grey arc from the asking word to the one that is pointed at, focused or under a finger. Before that its question mark stands above
 * the asking word: over another it would look like the answer.
 * @param {HTMLElement} box of buttons, one a word @param {number} asking the index of the asking word */
export function addGuessArc(box, asking) {
  const line = svgElement("path"),
    mark = svgElement("text", { "text-anchor": "middle" }, "?"),
    svg = svgElement("svg", { class: "guess", "aria-hidden": "true" }, line, mark),
    words = [...box.children];
  box.append(svg);
  setTabStop(words, words[asking]);
  const wordAt = ({ clientX, clientY }) => {
    const root = /** @type {ShadowRoot} */ (box.getRootNode()),
      found = root.elementFromPoint(clientX, clientY)?.closest("button");
    return found && words.includes(found) ? found : null;
  };
  const middleOf = (word, origin, scale) => {
    const { left, top, width } = word.getBoundingClientRect();
    return { x: (left + width / 2 - origin.left) / scale, y: (top - origin.top) / scale };
  };
  function draw(word, pointer = /** @type {PointerEvent | null} */ (null)) {
    const origin = box.getBoundingClientRect(),
      scale = scaleOf(box),
      from = middleOf(words[asking], origin, scale),
      letter = Number.parseFloat(getComputedStyle(mark).fontSize) || 0, // none on no page
      top = middleOf(words[0], origin, scale).y, // of the sentence: the space over it is the arc's
      over = pointer && { x: (pointer.clientX - origin.left) / scale, y: top - HANGING * letter },
      waits = { x: from.x, y: from.y - (from.y > top + 1 ? 0 : LIFTED * letter) },
      isWaiting = !word && !over,
      to = word ? middleOf(word, origin, scale) : (over ?? waits),
      rise = Math.min(Math.max(LEAST_RISE, RISE * Math.abs(to.x - from.x)), Math.min(from.y, to.y)),
      isSelf = word === words[asking],
      [start, end] = isSelf ? [from.x + 12, to.x - 12] : [from.x, to.x];
    const arc = `C ${start} ${from.y - 1.3 * rise}, ${end} ${to.y - 1.3 * rise}, ${end} ${to.y}`;
    line.setAttribute("d", `M ${start} ${from.y} ${isWaiting ? `L ${to.x} ${to.y}` : arc}`);
    line.style.display = to.y === from.y && isWaiting ? "none" : "";
    mark.setAttribute("x", String(to.x));
    mark.setAttribute("y", String(to.y + letter * (over ? 1 : to.y < from.y ? -0.4 : 0)));
    mark.style.display = word ? "none" : "";
    for (const each of words) each.classList.toggle("pointed", each === word);
  }
  const focused = () => words.find(each => each.matches(":focus-visible")) ?? null,
    rest = () => draw(focused());
  let pressed = /** @type {HTMLElement | null} */ (null);
  box.addEventListener("pointerdown", event => {
    pressed = wordAt(event);
  });
  box.addEventListener("pointermove", event => draw(wordAt(event), event));
  box.addEventListener("pointerleave", rest);
  box.addEventListener("focusin", rest);
  box.addEventListener("focusout", () => draw(null));
  // One may begin anywhere, as on the question mark, and chooses the word that one ends on.
  box.addEventListener("pointerup", event => {
    const word = wordAt(event);
    if (word && word !== pressed) word.click();
  });
  new ResizeObserver(rest).observe(box);
}
