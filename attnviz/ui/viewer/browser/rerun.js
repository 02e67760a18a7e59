// Running the page again where a run draws what is shown. Streamlit drops what is asked for while it is about to run for
// another reason, so it is asked again until a run has drawn what was done.

const PATIENCE = 1000; // ms

// trigger() asks for a run. Returns {answered(answer, isDone), end()}: an answer is to something that was done here, or else
// of a run; after Back, and on another page, nobody wants what was done any more.
export function makeRerun(trigger) {
  let wanted = null, timer = null;
  const end = () => {
    clearTimeout(timer);
    wanted = null;
  };
  const ask = () => {
    trigger();
    timer = setTimeout(ask, PATIENCE);
  };
  return {
    answered: ({ address }, isDone) => {
      const now = JSON.stringify(address);
      if (!isDone && now !== wanted) return;
      end();
      if (!isDone) return;
      wanted = now;
      ask();
    },
    end,
  };
}
