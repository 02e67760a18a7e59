// The two windows of a talk, the presented one and the speaker's, which show the same moment.
import { h } from "../dom/element.js";
import { makePlaceholder } from "../dom/placeholder.js";

const NAME = "attnviz talk ";

// Keeps two windows at the same moment. `name` identifies the pair; empty until a second window is opened.
// `handlers` receive the other messages, by name.
export function makeWindowPair(window, name, { now, follow, handlers = /** @type {any} */ ({}) }) {
  const connect = window.location.protocol === "file:" ? connectWindow : connectChannel;
  let connection = /** @type {ReturnType<typeof connect> | null} */ (null),
    hasMoved = false; // if so, the reply to "hello" is out of date
  const onMessage = data => {
    if (data === "hello") {
      connection?.send({ answer: now() });
      handlers.hello?.();
    } else if (data.name) handlers[data.name]?.(data.value);
    else if (!data.answer) follow(data);
    else if (!hasMoved) follow(data.answer);
  };
  if (name) {
    connection = connect(window, name, window.opener, onMessage);
    connection.send("hello");
  }
  return {
    // hrefOf(name) is the address of the second window. Returns whether the browser opened it.
    open(hrefOf) {
      name ||= String(window.crypto.getRandomValues(new Uint32Array(1))[0]);
      const other = window.open(hrefOf(name), NAME + name, "popup,width=1180,height=760");
      if (!other) return false;
      connection?.end();
      connection = connect(window, name, other, onMessage);
      return true;
    },
    sync() {
      hasMoved = true;
      connection?.send(now());
    },
    send: (name, value) => connection?.send({ name, value }),
    end: () => connection?.end(),
  };
}

function connectChannel(window, name, _other, onMessage) {
  const channel = new window.BroadcastChannel(NAME + name);
  channel.onmessage = ({ data }) => onMessage(data);
  return { send: data => channel.postMessage(data), end: () => channel.close() };
}

// Files are origins of their own, which BroadcastChannel can't connect.
function connectWindow(window, _name, other, onMessage) {
  const listen = ({ source, data }) => source === other && onMessage(data);
  window.addEventListener("message", listen);
  return {
    send: data => other?.postMessage(data, "*"), // a file's origin has no name to send to; `other` is known to be ours
    end: () => window.removeEventListener("message", listen),
  };
}

// A lesson's side of the pair. `name` is that of the pair in a speaker's window, else empty; `box` is the page, `body` takes the panel, which
// makePanel() resolves to once its script is there. actions: now() and follow(now) as in makeWindowPair; hello() as the other window opens,
// act(what) as something of the class is pressed there; in a speaker's window reveal(), and classChanged() as a class begins or ends.
export function makeTwoWindows(window, name, { box, body }, makePanel, actions) {
  const isSpeakers = name !== "",
    handlers = { hello: actions.hello, act: actions.act, report: onReport },
    pair = makeWindowPair(window, name, { ...actions, handlers }),
    act = what => (what === "reveal" ? actions.reveal() : pair.send("act", what)),
    panel = makePlaceholder(() => makePanel(act, name), { element: h("section", { hidden: true }) });
  let report = /** @type {any} */ (null); // of the class, from the window that is presented
  if (isSpeakers) {
    body.append(panel.element("element"));
    panel.load();
  }
  function onReport(received) {
    const wasClass = report !== null;
    report = received;
    panel.call("classNow", report);
    if (wasClass !== (report !== null)) actions.classChanged();
  }
  box.classList.toggle("of-speaker", isSpeakers);
  return {
    isSpeakers,
    open: pair.open,
    sync: pair.sync,
    isClass: () => report !== null,
    sendReport: report => pair.send("report", report),
    update(moment, stage) {
      panel.call("update", moment);
      panel.call("stage", stage);
    },
    end() {
      pair.end();
      panel.end();
    },
  };
}
