// Waiting: a page says that it is busy until it is there and while there are acts without an answer, and dims when one is
// long in coming. That is a class and not the style of what is busy: to begin a transition costs a frame, which most answers
// come before.

const LONG_MS = 1000;

// Returns a function that is told whether there are any: `root` is busy then, and so is the view, which dims.
export function makeWaiting(root, view) {
  let timer = null;
  return isWaiting => {
    for (const each of [root, view]) each.ariaBusy = isWaiting;
    if (isWaiting) timer ??= setTimeout(() => view.classList.add("late"), LONG_MS);
    else {
      clearTimeout(timer);
      timer = null;
      view.classList.remove("late");
    }
  };
}
