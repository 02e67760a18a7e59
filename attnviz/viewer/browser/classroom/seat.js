// A seat in a class: taken by the code, the QR code's link or the seat that this browser has had, and kept in it.
import { readKept, writeKept } from "../seams/storage.js";

const LATER_MS = 1000;
const NAME = "attnviz seat";
const MAX_KEPT = 5; // rooms
const LATER = [0, 429, 502, 503, 504];

// Takes a seat in the room of a code. `hash` is what the page's address has after its #. Returns {seat, key}, or {said}, why not;
// wait(said) is told why it takes longer. A seat is kept in the first of the `stores` that takes it: that of all tabs, so that a
// browser has one seat, or where that is forbidden or full the tab's own.
export async function takeSeat(line, code, hash, stores, wait) {
  const kept = stores.map(storeOf => readKept(storeOf, NAME)?.[code]).find(Boolean);
  const asks = [...(kept ? [{ seat: kept }] : []), ...(hash ? [{ link: hash }] : []), {}];
  let reason = "";
  for (const each of asks) {
    const answer = await joined(line, code, each, wait);
    if (answer.isDone) {
      /** @type {import("../../generated/contract").Seat} */
      const taken = answer.data;
      stores.some(storeOf => keep(storeOf, code, taken.seat)); // else a reload takes another seat
      return taken;
    }
    reason = answer.said;
  }
  return { said: reason };
}

function keep(storeOf, code, seat) {
  const others = Object.entries(readKept(storeOf, NAME) ?? {}).filter(([each]) => each !== code);
  writeKept(storeOf, NAME, Object.fromEntries([...others.slice(1 - MAX_KEPT), [code, seat]]));
  return readKept(storeOf, NAME)?.[code] === seat;
}

// Asks until it is answered: where many come at once, or many type wrong codes, one is let in by and by.
async function joined(line, code, how, wait) {
  for (;;) {
    const answer = await line.post(code, { do: "join", ...how });
    if (!LATER.includes(answer.status)) return answer;
    wait(answer.said);
    await new Promise(done => setTimeout(done, LATER_MS));
  }
}
