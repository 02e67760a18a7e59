// When code runs: once a frame, after a frame, once calls have settled, or only for new arguments.

const waiting = [];
let isComing = false; // the time for the first of them

// Runs act() after the frame after the next: while a frame is drawn on the screen by other threads, the processor is theirs. Acts run
// in order, each in a task of its own, so that another frame may come in between.
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

// Calls act() in the next frame, once, with the last arguments.
export function oncePerFrame(act) {
  let last = null;
  return (...of) => {
    if (!last)
      requestAnimationFrame(() => {
        const now = last;
        last = null;
        act(...now);
      });
    last = of;
  };
}

// Calls act() once soon() has not been called for `ms`. now() runs a pending call at once, drop() cancels it.
export function onceSettled(act, ms) {
  let timer = 0;
  const drop = () => {
    clearTimeout(timer);
    timer = 0;
  };
  return {
    soon() {
      drop();
      timer = setTimeout(() => {
        drop();
        act();
      }, ms);
    },
    now() {
      if (!timer) return;
      drop();
      act();
    },
    drop,
  };
}

// Memoizes make(data, ...more) by `data` (as JSON), for its last `most` values; forget() clears it. `more` is passed on but not compared.
export function memoLast(make, most = 1) {
  const known = new Map();
  const now = (data, ...more) => {
    const key = JSON.stringify(data);
    if (!known.has(key)) {
      if (known.size === most) known.delete(known.keys().next().value);
      known.set(key, undefined);
      known.set(key, make(data, ...more));
    }
    return known.get(key);
  };
  return Object.assign(now, { forget: () => known.clear() });
}
