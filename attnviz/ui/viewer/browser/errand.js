// Errands: what the server is asked for until it answers. Streamlit drops what is asked while it is about to run for
// another reason, so each is asked again after a while.

const PATIENCE = 1000; // ms from one try to the next
const TRIES = 5;

// send(event, message) reaches the server. Only what may be asked twice without harm is an errand.
export function makeErrands(send) {
  const open = new Map(); // event -> {message, isAnswered, timer}
  const drop = (event) => {
    clearTimeout(open.get(event)?.timer);
    open.delete(event);
  };
  const ask = (event, tries) => {
    const errand = open.get(event);
    send(event, errand.message);
    errand.timer = tries > 1 ? setTimeout(() => ask(event, tries - 1), PATIENCE) : null;
  };
  return {
    // Asks, and again until `isAnswered(pass)` says so of a later pass. The same errand is not begun twice.
    begin: (event, message, isAnswered) => {
      if (JSON.stringify(open.get(event)?.message) === JSON.stringify(message)) return;
      drop(event);
      open.set(event, { message, isAnswered, timer: null });
      ask(event, TRIES);
    },
    answered: (pass) => {
      for (const [event, { isAnswered }] of [...open]) if (isAnswered(pass)) drop(event);
    },
    end: () => [...open.keys()].forEach(drop),
  };
}
