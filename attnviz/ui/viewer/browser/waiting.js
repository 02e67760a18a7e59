// Waiting: a page says that it is busy while there are acts without an answer, and dims when one is long in coming. That is
// a class and not the style of what is busy: to begin a transition costs a frame, which most answers come before.

const LONG = 1000; // ms

// Returns a function that is told whether there are any.
export function makeWaiting(root) {
  let timer = null;
  return (isWaiting) => {
    root.ariaBusy = isWaiting;
    if (isWaiting) timer ??= setTimeout(() => root.classList.add("late"), LONG);
    else {
      clearTimeout(timer);
      timer = null;
      root.classList.remove("late");
    }
  };
}
