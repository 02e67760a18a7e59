// Posting: what is done here, sent to the server.

const LATER = [404, 429, 502, 503, 504]; // it doesn't know this tab yet, has too much to do, or isn't there

// Returns a function of a message that gives the server's answer, or null where it has none now. It throws where it never
// will have one. `templates` are those that the browser has (templates.js).
export function postTo(url, templates) {
  return async message => {
    const response = await send(url, { ...message, templates: templates.names });
    if (!response || LATER.includes(response.status)) return null;
    if (!response.ok) throw new Error(await refusalIn(response));
    return response
      .json()
      .then(templates.whole)
      .catch(() => null); // half an answer
  };
}

// At a bug of ours the server says what to send us (server/responses.py); what stands before it may answer in HTML.
async function refusalIn(response) {
  const isReport = response.status === 500 && response.headers.get("Content-Type")?.startsWith("text/plain");
  if (isReport) return await response.text();
  return `The server could not do that (${response.status}). Try something else, or reload the page.`;
}

function send(url, message) {
  const headers = { "Content-Type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(message) }).catch(() => null);
}
