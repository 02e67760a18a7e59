// The refusal: where there is no server, what needs one says so for a while.

const SAID_MS = 6000;

// Returns a function that says it in a `line` of the page, and gives false, as nothing was sent.
export function makeRefusal(line, text) {
  let timer = null;
  return () => {
    line.textContent = text;
    clearTimeout(timer);
    timer = setTimeout(() => {
      line.textContent = "";
    }, SAID_MS);
    return false;
  };
}
