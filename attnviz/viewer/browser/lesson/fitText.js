// Text that fits its box: its letters become smaller until no line is out of sight.

const LARGEST = 1.12,
  SMALLEST = 0.86,
  STEP = 0.04; // of the page's letters

// Where they can't become small enough, the box is marked as `over`, and once the answer is shown what was read before it goes
// (lesson.css). In a talk no letter is smaller than those of the page.
export function fitText(box, isPresented) {
  const isOver = () => box.scrollHeight > box.clientHeight + 1;
  box.classList.remove("over");
  for (let size = LARGEST; size >= (isPresented ? 1 : SMALLEST) - 1e-9; size -= STEP) {
    box.style.setProperty("--said", `${size.toFixed(2)}rem`);
    if (!isOver()) return;
  }
  box.classList.add("over");
}
