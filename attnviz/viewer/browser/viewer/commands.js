// Commands: what a key, a remote's button or a control of the talk asks the viewer for, by its name.
import { destinationOf } from "../scene/present.js";
import { askedOnward, isWritten } from "../scene/route.js";

// now() gives {pass, where}, null before there is a pass; go(parts) goes elsewhere in it, send(event, message) reaches the server,
// begin() leads into a talk of a model that writes, and `edge` says that it goes no further. Returns follow(command), which
// says whether that was done.
export function makeCommands(host, { now, go, send, begin, edge }) {
  const ofServer = (command, { pass, where }) => {
    if (command === "present" && isWritten(pass, where)) return begin;
    if (command === "compare") return () => send(pass.other ? "unpin" : "pin", true);
    const act = command === "on" ? askedOnward(pass, where) : null;
    return act && (() => send(...act));
  };
  return command => {
    const { pass, where } = now();
    if (!pass) return false;
    const act = host.alone ? null : ofServer(command, { pass, where });
    if (act) return act();
    if (command === "compare") return false;
    if (command === "moment") return host.collect?.(pass, where) ?? false;
    if (command === "example") return host.example?.() ?? false;
    const parts = destinationOf(pass, where, command),
      isOver = !parts && where.present && (command === "on" || command === "back");
    if (parts) go(parts);
    if (isOver) edge.say(command);
    return Boolean(parts) || isOver;
  };
}
