// Two windows of one talk: what is shown in one is shown in the other, and closing either leaves the other whole.

const NAME = "attnviz talk ";

// `name` pairs the two; empty until a second one is opened. acts: {now, follow}: where one is, {lesson, moment, isShown}, and what
// goes where the other has gone. Returns {name(), open(href), tell(), end()}.
export function makeTogether(window, name, { now, follow }) {
  let channel = null;
  const listen = () => {
    channel = new window.BroadcastChannel(NAME + name);
    channel.onmessage = ({ data }) => (data === "hello" ? tell() : follow(data));
  };
  const send = message => channel?.postMessage(message),
    tell = () => send(now());
  if (name) {
    listen();
    send("hello");
  }
  return {
    // hrefOf(name) is the address of the second window. Returns whether the browser opened it.
    open(hrefOf) {
      if (!channel) {
        name = String(window.crypto.getRandomValues(new Uint32Array(1))[0]);
        listen();
      }
      return window.open(hrefOf(name), NAME + name, "popup,width=1180,height=760") !== null;
    },
    tell,
    end: () => channel?.close(),
  };
}
