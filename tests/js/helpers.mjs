// What several tests stand on: a browser's store, its clock, and waiting for promises.

// A store that keeps its texts in `texts`, none of more than `most` characters.
export function storeOf(texts = {}, most = Number.POSITIVE_INFINITY) {
  return {
    getItem: name => texts[name] ?? null,
    setItem: (name, text) => {
      if (text.length > most) throw new DOMException("full", "QuotaExceededError");
      texts[name] = text;
    },
    removeItem: name => delete texts[name],
  };
}

// A store that a page in a frame may not ask for.
export function forbidden() {
  throw new DOMException("forbidden", "SecurityError");
}

// Has a test's own clock run its timeouts; returns what moves it on.
export function mockTimeouts(t, apis = ["setTimeout"]) {
  t.mock.timers.enable({ apis });
  return ms => t.mock.timers.tick(ms);
}

// Lets promises settle whose clock is a test's own.
export async function turns(count = 20) {
  for (let n = 0; n < count; n += 1) await Promise.resolve();
}
