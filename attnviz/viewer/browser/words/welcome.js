// The welcome: what attnviz is, in a sentence for those who open it for the first time.

export const WELCOME =
  "attnviz shows attention number by number: each number is real, and opens down to the multiplications that make it.";
const KEPT = "attnviz was opened";

// Whether this browser opens attnviz for the first time; asked once, as it is not from then on.
export function isNewcomer(storage) {
  try {
    const isFirst = storage().getItem(KEPT) === null;
    storage().setItem(KEPT, "yes");
    return isFirst;
  } catch {
    return false; // a page in a sandbox may keep nothing, and would say it each time
  }
}
