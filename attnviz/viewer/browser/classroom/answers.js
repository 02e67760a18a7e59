// What one answers in a class: kept, and sent until it has arrived, one a second; of several the last counts.

const ANSWER_MS = 1100; // between two answers

// post(message) tells the class; changed() is called as something is otherwise. Returns {at(now), failureAt(now), give(now, value),
// recall(heard)}; `now` is ClassNow of generated/contract.d.ts.
export function makeAnswers(post, changed) {
  let own = null, // {number, round, value}
    pending = null, // that is to be sent
    failure = "";
  const isOf = ({ number, round }) => own?.number === number && own.round === round?.number;
  return {
    // What one answered where the class is, null where nothing; and why it was not taken, empty where it was.
    at: now => (isOf(now) ? own.value : null),
    failureAt: now => (isOf(now) ? failure : ""),
    // Who comes back hears what they said.
    recall: heard => {
      if (heard) own = heard;
    },
    give: async (now, value) => {
      own = { number: now.number, round: now.round?.number ?? 1, value };
      changed();
      const isSending = pending !== null;
      pending = value;
      if (isSending) return;
      for (let sent = null; pending !== sent; ) {
        sent = pending;
        const { number, round } = own;
        const { isDone, status, said } = await post({ do: "answer", number, round, value: sent });
        const isLater = status === 0 || status >= 500; // a process is lost: another one is asked
        failure = isDone || isLater ? "" : said;
        if (isLater) sent = null;
        await new Promise(done => setTimeout(done, ANSWER_MS));
      }
      pending = null;
      changed();
    },
  };
}
