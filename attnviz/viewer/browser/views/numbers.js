// The component of “Your own numbers”: takes a file from the user and shows what the server found in it.
import { makeControls } from "./controls.js";
import { button, element, redraw, write } from "../dom/element.js";
import { makePiece } from "./pieces.js";
import { currentFile, setCurrentFile, sendFile } from "../shell/upload.js";
import { cleanupIfGone } from "../shell/streamlit.js";

const UNREADABLE =
  "The browser can’t read this: it is a folder, or has changed since it was picked. Pick a file again.";

// url is the server's for files; open(door) leads to another page. Returns {given({tab, questions, examples, most, tooLarge}),
// end()}.
function mountOwnNumbers(root, url, open) {
  const examples = element("p", "examples"),
    report = makeReport(open),
    drop = makeDrop(take),
    questionForm = makeQuestions(answer);
  let shown = null,
    answers = {},
    wanted = null;
  root.replaceChildren(drop.element, examples, ...questionForm.elements, ...report.elements);

  async function send() {
    const file = currentFile(window),
      request = {},
      isWanted = () => wanted === request && currentFile(window) === file,
      showProgress = how => report.tellUnderway(labelOf(file), how);
    wanted = request;
    root.ariaBusy = true;
    showProgress(1);
    if (!(await sendFile(url, shown.tab, file, isWanted, showProgress))) return;
    root.ariaBusy = false;
    report.tell(labelOf(file), file.pieces);
  }
  function keep(parts) {
    setCurrentFile(window, { name: "", bytes: "", tab: null, pieces: null, ...parts });
    draw();
    send();
  }
  function refuse({ name }, why) {
    setCurrentFile(window, null);
    wanted = null;
    root.ariaBusy = false;
    report.tell(name, [{ kind: "text", runs: [["", why]] }]);
    draw();
  }
  async function take(file) {
    if (!file) return;
    if (file.size > shown.most) return refuse(file, shown.tooLarge);
    const bytes = await file.arrayBuffer().catch(() => null);
    if (bytes) keep({ name: file.name, bytes, answers: { ...first(), ...answers } });
    else refuse(file, UNREADABLE);
  }
  function answer(event, value) {
    answers = { ...answers, [event]: value };
    const file = currentFile(window);
    if (file && !file.answers.example) keep({ ...file, answers: { ...first(), ...answers } });
    else draw();
  }
  function first() {
    const firsts = shown.questions.map(({ event, options: [{ value }] }) => [event, value]);
    return { ...Object.fromEntries(firsts), example: "" };
  }
  function labelOf({ name, answers: given }) {
    return name || shown.examples.find(({ value }) => value === given?.example)?.label;
  }
  function draw() {
    const file = currentFile(window);
    questionForm.update(questionsOn(file, shown.questions), { ...first(), ...(file?.answers ?? answers) });
  }
  function offer({ value, label }) {
    return button(label, () => keep({ answers: { ...first(), example: value } }));
  }
  return {
    given: next => {
      const isFirst = shown === null,
        file = currentFile(window);
      shown = next;
      drop.hint(next.hint);
      if (isFirst) {
        redraw(examples, ["No file at hand? Try one of ours: ", ...next.examples.map(offer)]);
        draw();
      }
      if (file && file.tab !== next.tab) return send();
      if (isFirst && file) report.tell(labelOf(file), file.pieces);
      root.ariaBusy = false;
    },
    end: () => {
      wanted = null;
    },
  };
}

// Where a file is picked or dropped.
function makeDrop(take) {
  const drop = element("label", "drop"),
    hint = element("span", "hint"),
    input = element("input");
  Object.assign(input, { type: "file", accept: ".npz,.npy,.safetensors,.csv,.json" });
  input.onchange = () => {
    take(input.files[0]);
    input.value = ""; // the same file, saved anew, may be picked again
  };
  drop.append(element("strong", "", "Pick a file, or drop it here"), hint, input);
  drop.ondragover =
    drop.ondragleave =
    drop.ondrop =
      event => {
        event.preventDefault();
        drop.classList.toggle("over", event.type === "dragover");
        if (event.type === "drop") take(event.dataTransfer.files[0]);
      };
  return { element: drop, hint: text => write(hint, text) };
}

// What of the questions is asked on the file that is kept.
function questionsOn(file, questions) {
  if (!file || file.answers.example || /\.json$/i.test(file.name)) return [];
  const isSingle = /\.(npy|csv)$/i.test(file.name);
  return questions.filter(({ of }) => of === "all" || (of === "single") === isSingle);
}

// Their boxes, those that are rarely needed below More.
function makeQuestions(answer) {
  const line = element("div", "settings"),
    more = element("details", "more"),
    rare = element("div", "settings"),
    [often, seldom] = [line, rare].map(box => makeControls(box, answer));
  more.append(element("summary", "", "More"), rare);
  return {
    elements: [line, more],
    update: (questions, now) => {
      const boxes = questions.map(each => ({ kind: "choice", ...each, value: now[each.event] })),
        those = isRare => boxes.filter(each => Boolean(each.rare) === isRare);
      often.update(those(false), false);
      seldom.update(those(true), false);
      line.hidden = more.hidden = !boxes.length;
    },
  };
}

// The report on a file: its name and the result, which is heard too, and all else.
function makeReport(open) {
  const [status, result] = [element("div", "came"), element("div", "came")],
    doing = element("p", "name"),
    sent = element("p", "sent"),
    bar = element("progress"),
    percent = element("span"),
    reason = element("p");
  status.setAttribute("role", "status");
  bar.ariaLabel = "Sent";
  percent.ariaHidden = "true";
  sent.append(bar, percent);
  return {
    elements: [status, result],
    tell: (name, pieces) => {
      const [head, ...rest] = pieces.map(piece => makePiece(piece, { open }).element);
      status.replaceChildren(element("p", "name", name), head);
      result.replaceChildren(...rest);
    },
    // `how` is the part of it that has been sent, of which the eye alone sees each percent, or why it waits.
    tellUnderway: (name, how) => {
      const waits = typeof how === "string",
        isSending = how < 1;
      if (status.firstChild !== doing) {
        status.replaceChildren(doing, sent, reason);
        result.replaceChildren();
      }
      write(doing, `${waits ? "Waiting with" : isSending ? "Sending" : "Comparing"} ${name} …`);
      sent.hidden = !isSending;
      reason.hidden = !waits;
      if (isSending) bar.value = how;
      write(percent, isSending ? `${Math.floor(100 * how)} %` : "");
      write(reason, waits ? how : "");
    },
  };
}

const parts = new WeakMap(); // root -> what takes a file

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".article");
  const part =
    parts.get(root) ?? mountOwnNumbers(root, new URL("arrays", site), door => setTriggerValue("opened", door));
  parts.set(root, part);
  part.given(data);
  return cleanupIfGone(root, () => {
    if (parts.delete(root)) part.end();
  });
}
