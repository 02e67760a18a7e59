// The server: what is done here is told to it, and its answer is shown. It is asked one thing after the other, so that what
// is done keeps its order.

const RETRY_MS = 1000; // until a server that could not answer is asked again
const MAX_BACK_MS = 3000; // that Back waits for a run to show where it led
const MAX_ACTS = 5; // acts that one request tells
const REPLACING = new Set(["sentence", "context", "seed", "checkpoint", "mask", "mask_size", "d_model", "n_heads"]); // the last counts
const NEXT = {
  // state -> what happens -> the state after it
  resting: { asked: "asking", back: "away" },
  asking: { answered: "resting", back: "leaving" },
  away: { shown: "resting" }, // Back has led elsewhere: nothing is asked until that is shown
  leaving: { answered: "away", shown: "forgetting" }, // the same, and what is on its way is for nobody
  forgetting: { answered: "resting", back: "leaving" }, // what is on its way is still for nobody
};
const NOTHING = ["nothing", true]; // an act that changes nothing: its answer is the scene that it is asked of

// post(message) gives an answer, null where there is none now, and throws where there never will be. look() is the address
// as it stands. Returns {act, given, forget, isWaiting}.
export function makeServer({ post, look }) {
  let state = "resting",
    queue = [],
    timer = null;
  let given = null,
    show = null; // the answer that is shown, or that what is done next is done to; what shows it
  const is = wanted => state === wanted;
  const becomes = event => {
    state = NEXT[state][event] ?? state;
  };
  // A run that was slower than what was done after it. It isn't shown: a new answer is asked for, as another page may need one.
  const isLate = ({ tab, number }) => given?.tab === tab && number < given.number;
  // It will never be done: what is shown stays, with a sentence on that.
  const refused = ({ message }) => ({ ...given, notices: [message] });
  const again = ms => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      becomes("shown");
      flush();
    }, ms);
  };
  const flush = async () => {
    if (!is("resting") || !queue.length) return;
    clearTimeout(timer);
    const acts = queue.splice(0, MAX_ACTS),
      { tab, address, view } = given;
    becomes("asked");
    const answer = await post({ tab, address, look: look(), view, acts }).catch(refused);
    const isWanted = is("asking");
    becomes("answered");
    if (isWanted) take(answer, acts, view);
    else flush();
  };
  const take = (answer, acts, view) => {
    if (!answer) {
      queue.unshift(...acts);
      again(RETRY_MS);
      return;
    }
    if (view === given.view) {
      given = answer;
      show(answer, true);
    } else {
      // a page that shows something else has come meanwhile: it needs an answer of its own
      given = { ...given, address: answer.address, number: answer.number };
      queue.unshift(NOTHING);
    }
    flush();
  };
  const isAsking = () => Object.hasOwn(NEXT[state], "answered");
  return {
    get isWaiting() {
      return isAsking() || queue.length > 0;
    },
    act: (name, message) => {
      if (REPLACING.has(name) && queue.at(-1)?.[0] === name) queue.pop();
      queue.push([name, message]);
      flush();
    },
    // The answer of a run of the page: on a visit, after Back, and from a process that has taken over. From now on
    // draw(answer, isDone) shows them, to what was done here too.
    given: (answer, draw) => {
      show = draw;
      if (isLate(answer)) {
        given = { ...answer, address: given.address, number: given.number };
        queue.unshift(NOTHING);
      } else {
        given = answer;
        becomes("shown");
        show(answer, false);
      }
      flush();
    },
    // Back leads elsewhere: nothing is done until that is shown. What is on its way is done there all the same, so that
    // the server has to hear where we are.
    forget: () => {
      queue = isAsking() ? [NOTHING] : [];
      becomes("back");
      again(MAX_BACK_MS);
    },
  };
}
