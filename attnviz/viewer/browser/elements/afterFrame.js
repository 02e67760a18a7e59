// After the frame: what need not be in the next frame is done once that is seen, so that one sees the rest of an answer sooner.
// While a frame is drawn on the screen, by other threads, the processor is theirs: so the frame after it is waited for too.

const waiting = [];
let isComing = false; // the time for the first of them

// It is done in the order in which it was asked for, each by itself: another frame may come between.
export function afterFrame(act) {
  waiting.push(act);
  if (!isComing) requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(doNext)));
  isComing = true;
}

function doNext() {
  const act = waiting.shift();
  isComing = waiting.length > 0;
  if (isComing) setTimeout(doNext);
  act();
}
