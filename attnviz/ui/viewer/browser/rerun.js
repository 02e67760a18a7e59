// Running the page again where a run draws what is shown. Streamlit drops what is asked for while it is about to run for
// another reason, so it is asked again until a run has drawn what was done.

const PATIENCE = 1000; // ms

// trigger() asks for a run. Returns a function of an answer, to something that was done here or else of a run.
export function makeRerun(trigger) {
  let wanted = null, timer = null;
  const ask = () => {
    trigger();
    timer = setTimeout(ask, PATIENCE);
  };
  return ({ address }, isDone) => {
    const now = JSON.stringify(address);
    if (!isDone && now !== wanted) return;
    clearTimeout(timer);
    wanted = isDone ? now : null;
    if (isDone) ask();
  };
}
