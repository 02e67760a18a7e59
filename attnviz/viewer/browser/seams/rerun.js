// Running the page again for what was chosen in it. Streamlit drops what is asked for while it is about to run for another
// reason, so it is asked again until a run has it.

const RETRY_MS = 1000;

// trigger() asks for a run; `root` is busy until it has come, and before the first. Returns {ask(chosen), ran(chosen), end()}:
// what was chosen here, what a run has of it; after Back, and on another page, nobody wants what was chosen any more.
export function makeRerun(root, trigger) {
  let wanted = null,
    timer = null;
  const end = () => {
    clearTimeout(timer);
    wanted = null;
    root.ariaBusy = false;
  };
  const again = () => {
    trigger();
    timer = setTimeout(again, RETRY_MS);
  };
  return {
    ask: chosen => {
      end();
      wanted = JSON.stringify(chosen);
      root.ariaBusy = true;
      again();
    },
    ran: chosen => {
      if (wanted === null || JSON.stringify(chosen) === wanted) end();
    },
    end,
  };
}
