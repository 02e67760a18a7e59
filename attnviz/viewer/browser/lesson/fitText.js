// Text that fits its box: its letters become smaller until no line is out of sight.

const LARGEST = 1.12,
  SMALLEST = 0.86,
  STEP = 0.04; // of the page's letters

export function fitText(box) {
  for (let size = LARGEST; size >= SMALLEST - 1e-9; size -= STEP) {
    box.style.setProperty("--said", `${size.toFixed(2)}rem`);
    if (box.scrollHeight <= box.clientHeight + 1) return;
  }
}
