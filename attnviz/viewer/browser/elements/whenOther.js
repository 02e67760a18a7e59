// Others: what is made of data stays as it is until they say something else.

// Returns a function of data that gives what make(data) gave, and calls it where they are others than the last `most` times, or
// after forget(). What else it is given make() is given too, whether that is other or not.
export function whenOther(make, most = 1) {
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
