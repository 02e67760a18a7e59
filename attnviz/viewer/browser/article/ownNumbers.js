// Your own numbers: a file is picked or dropped, what its shapes don't tell is asked, and what came of it stands below.
import { makeControls } from "../controls/controls.js";
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { makePiece } from "./pieces.js";
import { fileKept, keepFile, sendFile } from "../talk/ownFile.js";

const UNREADABLE =
  "The browser can’t read this: it is a folder, or has changed since it was picked. Pick a file again.";

// url is the server's for files; open(door) leads to another page. Returns {given({tab, questions, examples, most, tooLarge}),
// end()}.
export function mountOwnNumbers(root, url, open) {
  const input = element("input"),
    drop = element("label", "drop"),
    hint = element("span", "hint");
  const line = element("div", "settings"),
    more = element("details", "more"),
    rare = element("div", "settings");
  const examples = element("p", "examples"),
    status = element("div", "came"),
    result = element("div", "came");
  const doing = element("p", "name"),
    sent = element("p", "sent"),
    bar = element("progress"),
    percent = element("span"),
    reason = element("p");
  let shown = null,
    answers = {},
    wanted = null;

  const send = async () => {
    const kept = fileKept(window),
      mine = {},
      { tab } = shown;
    wanted = mine;
    root.ariaBusy = true;
    tellUnderway(kept, 1);
    const isAnswered = await sendFile(
      url,
      tab,
      kept,
      () => wanted === mine && fileKept(window) === kept,
      how => tellUnderway(kept, how),
    );
    if (!isAnswered) return;
    root.ariaBusy = false;
    tell(kept);
  };
  const keep = parts => {
    keepFile(window, { name: "", bytes: "", tab: null, pieces: null, ...parts });
    draw();
    send();
  };
  const refuse = ({ name }, why) => {
    keepFile(window, null);
    wanted = null;
    root.ariaBusy = false;
    tell({ name, pieces: [{ kind: "text", runs: [["", why]] }] });
    draw();
  };
  const take = async file => {
    if (!file) return;
    if (file.size > shown.most) return refuse(file, shown.tooLarge);
    const bytes = await file.arrayBuffer().catch(() => null);
    if (bytes) keep({ name: file.name, bytes, answers: { ...first(), ...answers } });
    else refuse(file, UNREADABLE);
  };
  const answer = (event, value) => {
    answers = { ...answers, [event]: value };
    const kept = fileKept(window);
    if (kept && !kept.answers.example) keep({ ...kept, answers: { ...first(), ...answers } });
    else draw();
  };
  const first = () => ({
    ...Object.fromEntries(shown.questions.map(({ event, options }) => [event, options[0].value])),
    example: "",
  });

  const often = makeControls(line, answer),
    seldom = makeControls(rare, answer);
  const draw = () => {
    const kept = fileKept(window),
      isFile = Boolean(kept) && !kept.answers.example;
    const single = isFile && /\.(npy|csv)$/i.test(kept.name),
      isModel = isFile && /\.json$/i.test(kept.name);
    const questions =
      isFile && !isModel ? shown.questions.filter(({ of }) => of === "all" || (of === "single") === single) : [];
    const now = { ...first(), ...(kept?.answers ?? answers) };
    const boxes = questions.map(each => ({ kind: "choice", ...each, value: now[each.event] }));
    often.update(
      boxes.filter(({ rare }) => !rare),
      false,
    );
    seldom.update(
      boxes.filter(({ rare }) => rare),
      false,
    );
    line.hidden = more.hidden = !isFile || isModel;
  };
  // The report on a file: its name and the result, which is heard too, and all else.
  const tell = kept => {
    const [head, ...rest] = kept.pieces;
    const made = piece => makePiece(piece, { open }).element;
    status.replaceChildren(element("p", "name", called(kept)), made(head));
    result.replaceChildren(...rest.map(made));
  };
  // `how` is the part of it that has been sent, of which the eye alone sees each percent, or why it waits.
  const tellUnderway = (kept, how) => {
    const waits = typeof how === "string",
      isSending = how < 1;
    if (status.firstChild !== doing) {
      status.replaceChildren(doing, sent, reason);
      result.replaceChildren();
    }
    write(doing, `${waits ? "Waiting with" : isSending ? "Sending" : "Comparing"} ${called(kept)} …`);
    sent.hidden = !isSending;
    reason.hidden = !waits;
    if (isSending) bar.value = how;
    write(percent, isSending ? `${Math.floor(100 * how)} %` : "");
    write(reason, waits ? how : "");
  };
  const called = ({ name, answers: given }) =>
    name || shown.examples.find(({ value }) => value === given?.example)?.label;

  Object.assign(input, { type: "file", accept: ".npz,.npy,.safetensors,.csv,.json" });
  input.onchange = () => {
    take(input.files[0]);
    input.value = ""; // the same file, saved anew, may be picked again
  };
  drop.append(element("strong", "", "Pick a file, or drop it here"), hint, input);
  drop.ondragover = event => {
    event.preventDefault();
    drop.classList.add("over");
  };
  drop.ondragleave = () => drop.classList.remove("over");
  drop.ondrop = event => {
    event.preventDefault();
    drop.classList.remove("over");
    take(event.dataTransfer.files[0]);
  };
  more.append(element("summary", "", "More"), rare);
  status.setAttribute("role", "status");
  bar.ariaLabel = "Sent";
  percent.ariaHidden = "true";
  sent.append(bar, percent);
  root.replaceChildren(drop, examples, line, more, status, result);

  return {
    given: next => {
      const isFirst = shown === null;
      shown = next;
      write(hint, next.hint);
      if (isFirst) {
        redraw(
          examples,
          next.examples.map(({ value, label }) =>
            button(label, () => keep({ answers: { ...first(), example: value } })),
          ),
        );
        examples.prepend("No file at hand? Try one of ours: ");
        draw();
      }
      const kept = fileKept(window);
      if (kept && kept.tab !== next.tab) return send();
      if (isFirst && kept) tell(kept);
      root.ariaBusy = false;
    },
    end: () => {
      wanted = null;
    },
  };
}
