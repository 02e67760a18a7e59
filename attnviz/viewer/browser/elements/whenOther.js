// Others: what is made of data stays as it is until they say something else.

// Returns a function of data that gives what make(data) gave, and calls it where they are others than the last time, or
// after forget(). What else it is given make() is given too, whether that is other or not.
export function whenOther(make) {
  let known = null,
    made;
  const now = (data, ...more) => {
    const next = JSON.stringify(data);
    if (next !== known) {
      known = next;
      made = make(data, ...more);
    }
    return made;
  };
  return Object.assign(now, {
    forget: () => {
      known = null;
    },
  });
}
