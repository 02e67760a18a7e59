// The answers that one gives in a class: kept, and sent until it has arrived, one a second; of several the last counts.

const ANSWER_MS = 1100; // between two answers

// post(message) tells the class; changed() is called as something is otherwise. Returns {at(now), failureAt(now), give(now, value),
// recall(heard)}; `now` is ClassNow of generated/contract.d.ts.
export function makeAnswers(post, changed) {
  const kept = new Map(); // by the question
  let heard = null, // {number, round, value}: what the server knows of who comes back
    last = null, // {number, round} of the one that was given last
    pending = null, // that is to be sent
    failure = "";
  const isOf = (what, { number, round }) => what?.number === number && what.round === round?.number;
  return {
    // One's answer where the class is, null where there is none; and why it was not taken, empty where it was.
    at: now => (isOf(heard, now) ? heard.value : (kept.get(nameOf(now)) ?? null)),
    failureAt: now => (isOf(last, now) ? failure : ""),
    // What the server has of who comes back; an answer that is still being sent is newer.
    recall: own => {
      const isOlder = pending !== null && own?.number === last.number && own.round === last.round;
      if (own && !isOlder) heard = own;
    },
    give: async (now, value) => {
      kept.set(nameOf(now), value);
      heard = null;
      last = { number: now.number, round: now.round?.number ?? 1 };
      changed();
      const isSending = pending !== null;
      pending = value;
      if (isSending) return;
      for (let sent = null; pending !== sent; ) {
        sent = pending;
        const { isDone, status, said } = await post({ do: "answer", ...last, value: sent });
        const isLater = status === 0 || status === 429 || status >= 500; // a process is lost: another one is asked
        failure = isDone || isLater ? "" : said;
        if (isLater) sent = null;
        await new Promise(done => setTimeout(done, ANSWER_MS));
      }
      pending = null;
      changed();
    },
  };
}

// A question, to which the class may come back; two moments of a talk may have one scene.
function nameOf({ number, at, kind, question, round }) {
  return JSON.stringify([kind === "talk" ? number : at, question, round?.number]);
}
