// The server: what is done here is told to it, and its answer is shown. It is asked one thing after the other, so that what
// is done keeps its order.

const PATIENCE = 1000; // ms until a server that could not answer is asked again
const REPLACING = new Set(["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"]); // the last counts
const NOTHING = ["nothing", true]; // an act that changes nothing: its answer is the scene that it is asked of

// post(message) gives an answer, null where there is none now, and throws where there never will be. look() is the address as it stands. show(answer, isDone)
// shows one: to what was done here, or of a run of the page. Returns {act, given, forget, isWaiting, end}.
export function makeServer({ post, look, show }) {
  let given = null, queue = [], asked = null, timer = null; // asked: {isForgotten} of what is on its way
  // It will never be done: what is shown stays, with a sentence on that.
  const refused = ({ message }) => ({ ...given, notices: [message] });
  const flush = async () => {
    clearTimeout(timer);
    if (asked || !queue.length) return;
    const now = { isForgotten: false }, acts = queue, { tab, name, address } = given, draws = Object.hasOwn(given, "pass");
    asked = now;
    queue = [];
    const answer = await post({ tab, name, address, look: look(), draws, acts }).catch(refused);
    asked = null;
    if (now.isForgotten) return flush();
    if (!answer) {
      queue = [...acts, ...queue];
      timer = setTimeout(flush, PATIENCE);
      return;
    }
    given = answer;
    show(answer, true);
    flush();
  };
  return {
    get isWaiting() { return Boolean(asked) || queue.length > 0; },
    act: (name, message) => {
      if (REPLACING.has(name) && queue.at(-1)?.[0] === name) queue.pop();
      queue.push([name, message]);
      flush();
    },
    // The answer of a run of the page: on a visit, after Back, and from a process that has taken over.
    given: (answer) => {
      given = answer;
      show(answer, false);
      flush();
    },
    // Back leads elsewhere. What is on its way is done there all the same, so the server has to hear where we are.
    forget: () => {
      queue = asked ? [NOTHING] : [];
      if (asked) asked.isForgotten = true;
    },
    end: () => clearTimeout(timer),
  };
}
