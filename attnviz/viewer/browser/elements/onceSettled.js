// Once settled: what is done when nobody has asked for it for a while.

// Returns {soon(), now(), drop()}: now() does at once what is still to be done, drop() never.
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
