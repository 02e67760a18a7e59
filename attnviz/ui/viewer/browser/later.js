// Later: what need not be in the next frame is done right after it, so that one sees the rest of an answer sooner.

const waiting = [];

// It is done in the order in which it was asked for.
export function later(act) {
  waiting.push(act);
  if (waiting.length === 1) requestAnimationFrame(() => setTimeout(doAll));
}

function doAll() {
  for (const act of waiting.splice(0)) act();
}
