// The picture of a mistake with the mask: a word's shares as they are right, beside those of the mistake, and the laws broken.
import { element, redraw } from "../elements/element.js";
import { digits } from "../pass/numeral.js";
import { drawShareBars, WITHOUT_PASS } from "./shareBars.js";

// As makePassPicture.
export function makeMistakePicture() {
  const box = element("section", "own-picture mistake");
  box.ariaLabel = "The mistake";
  return {
    element: box,
    show({ picture }, isCovered, isPresented) {
      box.classList.toggle("presented", isPresented);
      redraw(box, drawn(picture, isCovered));
    },
    ...WITHOUT_PASS,
  };
}

function drawn({ name, query, sides, words, hidden, right, wrong, rightSum, wrongSum, laws }, isCovered) {
  const bars = shares => words.map((label, place) => ({ label, share: shares[place], isHidden: hidden[place] })),
    both = element("div", "both");
  both.append(drawShareBars(`Shares of “${query}” ${sides[0]}`, bars(right), `Sum ${digits(rightSum)}`));
  if (isCovered) both.append(element("p", "waiting", "?"));
  else
    both.append(
      drawShareBars(sides[1], bars(wrong), wrongSum === null ? "The sum is no number." : `Sum ${digits(wrongSum)}`),
    );
  const broken = isCovered
    ? []
    : laws.map(law => {
        const line = element("p", "law");
        line.append(element("strong", "", "Law broken: "), law);
        return line;
      });
  return [element("p", "name", name), both, ...broken];
}
