// The component of “Your own numbers”: takes a file from the user and shows what the server found in it.
import { makeControls } from "./controls.js";
import { button, h, redraw, write } from "../dom/element.js";
import { makePiece } from "./pieces.js";
import { currentFile, sendFile, setCurrentFile } from "../shell/upload.js";
import { cleanupIfGone } from "../shell/streamlit.js";

const UNREADABLE =
  "The browser can’t read this: it is a folder, or has changed since it was picked. Pick a file again.";

// url is the server's for files; open(door) opens another page. Returns {update({tab, questions, examples, most, tooLarge}), end()}.
function mountOwnNumbers(root, url, open) {
  const examples = h("p", { class: "examples" }),
    report = makeReport(open),
    drop = makeDrop(take),
    questionForm = makeQuestions(answer);
  let props, wanted;
  let answers = {};
  root.replaceChildren(drop.element, examples, ...questionForm.elements, ...report.elements);
  async function send() {
    const file = /** @type {UserFile} */ (currentFile(window)), // it is there by now
      request = {},
      isWanted = () => wanted === request && currentFile(window) === file,
      showProgress = progress => report.showProgress(labelOf(file), progress);
    wanted = request;
    root.ariaBusy = true;
    showProgress(1);
    if (!(await sendFile(url, props.tab, file, isWanted, showProgress))) return;
    root.ariaBusy = false;
    report.show(labelOf(file), file.pieces);
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
    report.show(name, [{ kind: "text", runs: [["", why]] }]);
    draw();
  }
  async function take(file) {
    if (!file) return;
    if (file.size > props.most) return refuse(file, props.tooLarge);
    const bytes = await file.arrayBuffer().catch(() => null);
    if (bytes) keep({ name: file.name, bytes, answers: { ...defaults(), ...answers } });
    else refuse(file, UNREADABLE);
  }
  function answer(event, value) {
    answers = { ...answers, [event]: value };
    const file = currentFile(window);
    if (file && !file.answers.example) keep({ ...file, answers: { ...defaults(), ...answers } });
    else draw();
  }
  function defaults() {
    const firsts = props.questions.map(({ event, options: [{ value }] }) => [event, value]);
    return { ...Object.fromEntries(firsts), example: "" };
  }
  function labelOf({ name, answers }) {
    return name || props.examples.find(({ value }) => value === answers?.example)?.label;
  }
  function draw() {
    const file = currentFile(window);
    questionForm.update(questionsOn(file, props.questions), { ...defaults(), ...(file?.answers ?? answers) });
  }
  const drawExample = ({ value, label }) => button(label, () => keep({ answers: { ...defaults(), example: value } }));
  return {
    update: next => {
      const isFirst = !props,
        file = currentFile(window);
      props = next;
      drop.setHint(next.hint);
      if (isFirst) {
        redraw(examples, ["No file at hand? Try one of ours: ", ...next.examples.map(drawExample)]);
        draw();
      }
      if (file && file.tab !== next.tab) return send();
      if (isFirst && file) report.show(labelOf(file), file.pieces);
      root.ariaBusy = false;
    },
    end: () => {
      wanted = null;
    },
  };
}

function makeDrop(take) {
  const hint = h("span", { class: "hint" }),
    input = h("input", { type: "file", accept: ".npz,.npy,.safetensors,.csv,.json" }),
    drop = h("label", { class: "drop" }, h("strong", {}, "Pick a file, or drop it here"), hint, input);
  input.onchange = () => {
    take(input.files[0]);
    input.value = ""; // the same file, saved anew, may be picked again
  };
  const onDrag = event => {
    event.preventDefault();
    drop.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop") take(event.dataTransfer.files[0]);
  };
  Object.assign(drop, { ondragover: onDrag, ondragleave: onDrag, ondrop: onDrag });
  return { element: drop, setHint: text => write(hint, text) };
}

function questionsOn(file, questions) {
  if (!file || file.answers.example || /\.json$/i.test(file.name)) return [];
  const isSingle = /\.(npy|csv)$/i.test(file.name);
  return questions.filter(({ of }) => of === "all" || (of === "single") === isSingle);
}

function makeQuestions(answer) {
  const boxes = [1, 2].map(() => h("div", { class: "settings" })),
    [often, rarely] = boxes.map(box => makeControls(box, answer)),
    more = h("details", { class: "more" }, h("summary", {}, "More"), boxes[1]);
  return {
    elements: [boxes[0], more],
    update: (questions, values) => {
      const choices = questions.map(each => ({ kind: "choice", ...each, value: values[each.event] }));
      const { often: usual = [], rarely: others = [] } = Object.groupBy(choices, ({ rare }) =>
        rare ? "rarely" : "often",
      );
      often.update(usual, false);
      rarely.update(others, false);
      boxes[0].hidden = more.hidden = !choices.length;
    },
  };
}

// The report on a file: its name and the result, which a screen reader announces, and the rest.
function makeReport(open) {
  const status = h("div", { class: "came", role: "status" }),
    result = h("div", { class: "came" }),
    task = h("p", { class: "name" }),
    bar = h("progress", { ariaLabel: "Sent" }),
    percent = h("span", { ariaHidden: "true" }),
    sent = h("p", { class: "sent" }, bar, percent),
    reason = h("p");
  return {
    elements: [status, result],
    show: (name, pieces) => {
      const [first, ...rest] = pieces.map(piece => makePiece(piece, { open }).element);
      status.replaceChildren(h("p", { class: "name" }, name), first);
      result.replaceChildren(...rest);
    },
    // `progress` is the part that has been sent, up to 1, or the reason why it waits.
    showProgress: (name, progress) => {
      const isWaiting = typeof progress === "string",
        isSending = progress < 1;
      if (status.firstChild !== task) {
        status.replaceChildren(task, sent, reason);
        result.replaceChildren();
      }
      write(task, `${isWaiting ? "Waiting with" : isSending ? "Sending" : "Comparing"} ${name} …`);
      sent.hidden = !isSending;
      reason.hidden = !isWaiting;
      if (isSending) bar.value = progress;
      write(percent, isSending ? `${Math.floor(100 * progress)} %` : "");
      write(reason, isWaiting ? progress : "");
    },
  };
}

const parts = new WeakMap(); // root -> what takes a file

export default function ({ data, parentElement, setTriggerValue }, site) {
  const root = parentElement.querySelector(".article");
  const part =
    parts.get(root) ?? mountOwnNumbers(root, new URL("arrays", site), door => setTriggerValue("opened", door));
  parts.set(root, part);
  part.update(data);
  return cleanupIfGone(root, () => {
    if (parts.delete(root)) part.end();
  });
}
