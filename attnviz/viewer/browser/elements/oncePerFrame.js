// Once per frame: of what is asked for before the next frame, the last is done.

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
