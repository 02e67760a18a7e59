// A phone's seat in a class: taking one, and retaking it after the server lost the room and the speaker reopened it.
import { readStored, writeStored } from "../lesson/memory.js";
import { retry, isGone, isTemporary, pause } from "../shell/request.js";

const NAME = "attnviz seat"; // {code: {seat, host}}
const MAX_KEPT = 5; // rooms
const REJOIN_MS = 3000; // between two attempts, so that a hall of 300 asks 100 times a second
const MAX_REJOINS = 400; // twenty minutes
const OTHER =
  "These letters are of another class now. If they are on the screen, press Join; if not, type those that are.";

// Takes a seat in the room of a code; wait(message) is called with why it takes longer. A seat is kept in the first of the `stores` that
// takes it: that of all tabs, so that a browser has one seat, or if that is forbidden or full the tab's own. Returns the Seat, or else {message},
// and `saved` if it may be taken once the speaker has reopened the room. Whoever opens a room with this code is not followed unless they have
// the speaker's key, which `host` shows.
export async function takeSeat(api, code, hash, stores, wait) {
  const saved = savedSeat(code, stores),
    ways = [...(saved ? [{ seat: saved.seat }] : []), ...(hash ? [{ link: hash }] : []), {}];
  let message = "",
    isLost = Boolean(saved?.host);
  for (const way of ways) {
    const reply = await retry(() => api.post(code, { do: "join", ...way }), wait);
    if (reply.isDone) {
      /** @type {import("../../generated/contract").Seat} */
      const taken = reply.data;
      if (saved?.host && taken.host !== saved.host) return { message: OTHER };
      stores.some(storeOf => keep(storeOf, code, taken)); // without this a reload would take a second seat
      return taken;
    }
    ({ message } = reply);
    isLost &&= isGone(reply.status);
    if (way.seat && !isGone(reply.status)) break; // the class has ended
  }
  return { message, saved: isLost ? saved : null };
}

// Retakes a seat as soon as its room is back; null if it doesn't come back, or is no longer wanted.
export async function retakeSeat(api, code, { seat, host }, isWanted) {
  for (let n = 0; n < MAX_REJOINS && isWanted(); n += 1) {
    const reply = await api.post(code, { do: "join", seat });
    if (reply.isDone && reply.data.host === host) return reply.data;
    if (!reply.isDone && !isGone(reply.status) && !isTemporary(reply.status)) return null;
    await pause(REJOIN_MS);
  }
  return null;
}

// After joining by the form, the stored seat of an earlier room with this code doesn't count.
export function forgetSeat(code, stores) {
  for (const storeOf of stores) {
    const others = Object.entries(readStored(storeOf, NAME) ?? {}).filter(([each]) => each !== code);
    writeStored(storeOf, NAME, Object.fromEntries(others));
  }
}

// Null if there is none. A seat was stored without its host before.
export function savedSeat(code, stores) {
  const saved = stores.map(storeOf => readStored(storeOf, NAME)?.[code]).find(Boolean) ?? null;
  return typeof saved === "string" ? { seat: saved, host: "" } : saved;
}

function keep(storeOf, code, { seat, host = "" }) {
  const others = Object.entries(readStored(storeOf, NAME) ?? {}).filter(([each]) => each !== code);
  writeStored(storeOf, NAME, Object.fromEntries([...others.slice(1 - MAX_KEPT), [code, { seat, host }]]));
  return readStored(storeOf, NAME)?.[code]?.seat === seat;
}
