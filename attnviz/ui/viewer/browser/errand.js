// Errands: what the server is asked for until it answers. Streamlit drops what is asked while it is about to run for
// another reason, so each is asked once more after a while; what was refused is not asked for ever.

const PATIENCE = 1000; // ms from one try to the next
const TRIES = 2;

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
    errand.timer = setTimeout(() => (tries > 1 ? ask(event, tries - 1) : drop(event)), PATIENCE);
  };
  return {
    // Asks, and again unless `isAnswered(pass)` says so of a later pass. The same errand is not begun twice at a time.
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
