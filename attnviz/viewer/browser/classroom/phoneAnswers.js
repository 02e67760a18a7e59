// What a phone in a class answers: sent and confirmed answers, and drafts of typed ones.
import { readStored, removeStored, writeStored } from "../lesson/memory.js";
import { isGone, isTemporary, pause } from "../shell/request.js";

const ANSWER_MS = 1100; // at least, between two answers

// The answers of this phone. post(message) sends one; changed() is called after every change. `now` is ClassNow of generated/contract.d.ts.
export function makeAnswers(post, changed) {
  const byQuestion = new Map(), // {value, sure}: what this phone says
    confirmed = new Map(); // what of it the server has
  let last = "", // the question of the latest answer
    pending = /** @type {any} */ (null), // {question, round, value, sure}, still to be sent
    isOver = false,
    failure = "";
  // Without a room the answer waits, as the room may be reopened.
  const isAwaited = status => isTemporary(status) || isGone(status);
  // Only an answer that counts is shown.
  function refuse({ question, round }, message) {
    const name = nameOfRound(question, round),
      there = confirmed.get(name);
    failure = message;
    if (there) byQuestion.set(name, there);
    else byQuestion.delete(name);
  }
  const answerAt = ({ round }) => (round ? byQuestion.get(nameOfRound(round.question, round.number)) : undefined);
  return {
    // The answer to the current question, or null; how sure it is, 1 to 3, or 0 if that wasn't said; and why it was refused, or empty.
    at: now => answerAt(now)?.value ?? null,
    sureAt: now => answerAt(now)?.sure ?? 0,
    failureAt: ({ round }) => (round && last === nameOfRound(round.question, round.number) ? failure : ""),
    // Takes the answers that the server has, unless a newer one is still being sent.
    recall(received) {
      confirmed.clear();
      for (const name of [...byQuestion.keys()]) if (pending === null || name !== last) byQuestion.delete(name);
      for (const { question, round, value, sure } of received) {
        const name = nameOfRound(question, round);
        confirmed.set(name, { value, sure });
        if (pending === null || name !== last) byQuestion.set(name, { value, sure });
      }
    },
    // Sends the answer again that a reopened room lacks: what the server took in its last moment, or what it has of an earlier one.
    resend(now, before) {
      if (!before || pending !== null || !now.round?.isOpen) return;
      const there = confirmed.get(nameOfRound(now.round.question, now.round.number));
      if (there?.value !== before.value || there.sure !== before.sure) this.give(now, before.value, before.sure);
    },
    // What this phone has answered, {value, sure}; undefined if it hasn't.
    answerAt,
    end() {
      isOver = true;
    },
    async give({ round: { question, number: round } }, value, sure = 0) {
      last = nameOfRound(question, round);
      byQuestion.set(last, { value, sure });
      failure = "";
      changed();
      const isSending = pending !== null;
      pending = { question, round, value, sure };
      if (isSending) return;
      for (let sent = /** @type {any} */ (null); pending !== sent && !isOver; ) {
        sent = pending;
        const { isDone, status, message } = await post({ do: "answer", ...sent });
        if (isDone) confirmed.set(nameOfRound(sent.question, sent.round), { value: sent.value, sure: sent.sure });
        else if (isAwaited(status)) sent = null;
        else if (pending === sent) refuse(sent, message);
        await pause(ANSWER_MS);
      }
      pending = null;
      changed();
    },
  };
}

const nameOfRound = (question, round) => `${question} ${round}`;

const DRAFTS = "attnviz drafts";
const MAX_KEPT = 20;

// What is typed and not yet sent: it is there again once the class is back at its question, and after a reload. storeOf() returns a Storage that
// ends with the tab.
export function makeDrafts(storeOf) {
  let texts = /** @type {Record<string, string>} */ (readStored(storeOf, DRAFTS) ?? {});
  return {
    /** The draft of a question. @param {string} name @returns {import("../lesson/question.js").Draft} */
    of: name => ({
      get text() {
        return texts[name] ?? "";
      },
      keep(text) {
        const { [name]: _, ...others } = texts,
          kept = Object.entries(others).slice(1 - MAX_KEPT);
        texts = Object.fromEntries(text ? [...kept, [name, text]] : kept);
        writeStored(storeOf, DRAFTS, texts);
      },
    }),
    forget() {
      texts = {};
      removeStored(storeOf, DRAFTS);
    },
  };
}
