// Storage: JSON that the browser keeps under a name, where it keeps anything: it doesn't in another site's frame, nor in a sandbox.

// `storeOf()` gives a Storage, or fails where there is none. Null stands for what isn't there, or isn't ours.
export function readKept(storeOf, name) {
  try {
    return JSON.parse(storeOf().getItem(name));
  } catch {
    return null;
  }
}

// Returns whether it is kept: a browser that forbids it, or has no room left, keeps nothing, and it holds until the page is left.
export function writeKept(storeOf, name, data) {
  try {
    storeOf().setItem(name, JSON.stringify(data));
    return true;
  } catch {
    return false;
  }
}
