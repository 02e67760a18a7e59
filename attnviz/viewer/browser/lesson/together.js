// Two windows of one talk: what is shown in one is shown in the other, and closing either leaves the other whole.

const NAME = "attnviz talk ";

// `name` pairs the two; empty until a second one is opened. acts: {now, follow}: where one is, {lesson, moment, isShown, isBlank,
// isOver}, and what goes where the other has gone. Returns {open(href), tell(), end()}.
export function makeTogether(window, name, { now, follow }) {
  const lineTo = window.location.protocol === "file:" ? windowLine : channelLine;
  let line = null,
    hasTold = false; // then the other has been led on from where its answer to "hello" says that it is
  const heard = data => {
    if (data === "hello") line.send({ answer: now() });
    else if (!data.answer) follow(data);
    else if (!hasTold) follow(data.answer);
  };
  const tell = () => {
    hasTold = true;
    line?.send(now());
  };
  if (name) {
    line = lineTo(window, name, window.opener, heard);
    line.send("hello");
  }
  return {
    // hrefOf(name) is the address of the second window. Returns whether the browser opened it.
    open(hrefOf) {
      name ||= String(window.crypto.getRandomValues(new Uint32Array(1))[0]);
      const other = window.open(hrefOf(name), NAME + name, "popup,width=1180,height=760");
      if (!other) return false;
      line?.end();
      line = lineTo(window, name, other, heard);
      return true;
    },
    tell,
    end: () => line?.end(),
  };
}

function channelLine(window, name, _other, heard) {
  const channel = new window.BroadcastChannel(NAME + name);
  channel.onmessage = ({ data }) => heard(data);
  return { send: data => channel.postMessage(data), end: () => channel.close() };
}

// Each file is an origin of its own, which no channel leaves.
function windowLine(window, _name, other, heard) {
  const listen = ({ source, data }) => source === other && heard(data);
  window.addEventListener("message", listen);
  return {
    send: data => other?.postMessage(data, "*"), // a file's origin has no name; `other` is the window that one of us opened
    end: () => window.removeEventListener("message", listen),
  };
}
