// Text that fits its box: its letters become smaller until no line is out of sight.

const LARGEST = 1.12,
  LARGEST_OF_4K = 1.5,
  SMALLEST = 0.86,
  STEP = 0.04; // of the page's letters
const WINDOW_OF_4K = "(min-width: 2304px) and (min-height: 1251px)"; // as in scene/present.js

// Where they can't become small enough, the box is marked as `over`, and once the answer is shown what was read before it goes
// (lesson.css). In a talk no letter is smaller than those of the page.
export function fitText(box, isPresented) {
  const isOver = () => box.scrollHeight > box.clientHeight + 1;
  box.classList.remove("over");
  const largest = !isPresented && globalThis.matchMedia(WINDOW_OF_4K).matches ? LARGEST_OF_4K : LARGEST;
  for (let size = largest; size >= (isPresented ? 1 : SMALLEST) - 1e-9; size -= STEP) {
    box.style.setProperty("--said", `${size.toFixed(2)}rem`);
    if (!isOver()) return;
  }
  box.classList.add("over");
}
