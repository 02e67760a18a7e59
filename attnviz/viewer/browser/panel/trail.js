// The trail: the numbers that were unfolded, one after the other.
import { element } from "../elements/element.js";

// back(place) is called as one of them is clicked: it becomes the last.
/** @param {Pass} pass */
export function drawTrail(pass, trail, back) {
  const line = element("nav", "trail");
  line.setAttribute("aria-label", "The numbers that were unfolded");
  trail.map(pass.read).forEach(({ name, index }, place) => {
    if (place) line.append(element("span", "", " ← "));
    const crumb = element("button", "link", pass.nameOf(name, index));
    if (place === trail.length - 1) crumb.setAttribute("aria-current", "true");
    crumb.onclick = () => back(place);
    line.append(crumb);
  });
  return line;
}
