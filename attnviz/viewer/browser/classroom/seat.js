// A seat in a class: taken by the code, the QR code's link or the seat that this tab has had, and kept in it.
import { readKept, writeKept } from "../seams/storage.js";

const LATER_MS = 1000;
const NAME = "attnviz seat";
const LATER = [0, 429, 502, 503, 504];

// Takes a seat in the room of a code. `hash` is what the page's address has after its #. Returns {seat, key}, or {said}, why not;
// wait(said) is told why it takes longer.
export async function takeSeat(line, code, hash, storeOf, wait) {
  const kept = readKept(storeOf, NAME)?.[code];
  const asks = [...(kept ? [{ seat: kept }] : []), ...(hash ? [{ link: hash }] : []), {}];
  let reason = "";
  for (const each of asks) {
    const answer = await joined(line, code, each, wait);
    if (answer.isDone) {
      /** @type {import("../../generated/contract").Seat} */
      const taken = answer.data;
      writeKept(storeOf, NAME, { ...readKept(storeOf, NAME), [code]: taken.seat }); // else a reload takes another seat
      return taken;
    }
    reason = answer.said;
  }
  return { said: reason };
}

// Asks until it is answered. Who typed the code is told to wait, who has a link or a seat is let in by and by.
async function joined(line, code, how, wait) {
  for (;;) {
    const answer = await line.post(code, { do: "join", ...how });
    if (!LATER.includes(answer.status) || (answer.status === 429 && !how.link)) return answer;
    wait(answer.said);
    await new Promise(done => setTimeout(done, LATER_MS));
  }
}
