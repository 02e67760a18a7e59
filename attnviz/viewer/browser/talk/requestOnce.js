// Requests: what a pass lacks, asked of the server once however often a view wants it.

// send(event, message) reaches the server.
export function makeRequestsOnce(send) {
  const open = new Map(); // event -> {message, isAnswered}
  return {
    // Asks, unless that was asked for last. `isAnswered(pass)` says whether a later pass has it.
    begin: (event, message, isAnswered) => {
      if (open.get(event)?.message === message) return;
      open.set(event, { message, isAnswered });
      send(event, message);
    },
    answered: pass => {
      for (const [event, { isAnswered }] of [...open]) if (isAnswered(pass)) open.delete(event);
    },
    forget: () => open.clear(),
  };
}
