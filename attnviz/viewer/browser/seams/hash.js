// The hash: where a file keeps the place that one is at in it, as it has no address that a server reads.

const START = "start"; // of a place that needs no parameters: an empty hash is one that nobody has written

// The address of a viewer, as mount() takes it; where the page may write none, as in a notebook's frame, it holds until that
// is closed.
export function hashOf(window) {
  let kept = null;
  return {
    read: () => {
      const text = kept ?? window.location.hash.slice(1);
      return text && `?${text}`;
    },
    write: (search, isNewPlace) => {
      const text = search.slice(1) || START;
      try {
        window.history[isNewPlace ? "pushState" : "replaceState"](null, "", `#${text}`);
      } catch {
        kept = text;
      }
    },
    onArrival: listener => {
      window.addEventListener("hashchange", listener);
      return () => window.removeEventListener("hashchange", listener);
    },
  };
}
