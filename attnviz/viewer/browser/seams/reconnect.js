// Reconnecting: another process may answer from now on, which has seen nothing of this tab yet. Streamlit runs the page
// there only when a person does something next, and loses that. So something is done at once.

const STATE = "data-test-connection-state";

// Calls `act` whenever the tab has its server back; returns the end of that.
export function onReconnect(app, act, Observer) {
  let isConnected = app.getAttribute(STATE) === "CONNECTED";
  const observer = new Observer(() => {
    const was = isConnected;
    isConnected = app.getAttribute(STATE) === "CONNECTED";
    if (isConnected && !was) act();
  });
  observer.observe(app, { attributes: true, attributeFilter: [STATE] });
  return () => observer.disconnect();
}
