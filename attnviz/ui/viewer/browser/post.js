// Posting: what is done here, sent to the server; its answer, or null where it has none now.

export function postTo(url) {
  return async (message) => {
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(message),
      });
      return answer.ok ? await answer.json() : null;
    } catch { // no server, or half an answer
      return null;
    }
  };
}
