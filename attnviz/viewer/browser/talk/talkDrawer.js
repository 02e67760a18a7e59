// The drawer of a talk: the list of its moments, and the form that edits one.
import { button, h, openDialog, write } from "../dom/element.js";
import { answerOf } from "../lesson/question.js";
import { drawThumbnail, thumbnailFrom } from "../lesson/speakerWindow.js";
import { NOTHING, edited, minutesOf, moved, without } from "../lesson/course.js";

const NONE = "none",
  OWN = "own";

// actions: {edit(parts, what), move(by), remove(), give(), open()}: give() presents the talk from this moment, open() opens its scene.
function makeTalkForm(actions, requests) {
  const answer = h("p", { class: "answer", role: "status" });
  let now = /** @type {any} */ (null), // the moment
    suggestions = /** @type {any[]} */ ([]), // questions for the address `offeredAt`
    offeredAt = "";
  const edit = (name, value) => actions.edit({ [name]: value }, name);
  const text = makeTextArea(3, value => edit("text", value), check),
    after = makeTextArea(2, value => edit("after", value), check),
    notes = makeTextArea(2, value => edit("notes", value)),
    prompt = makeTextArea(2, value => actions.edit({ ask: { ...now.ask, prompt: value } }, "prompt"), check),
    minutes = h("input", { type: "number", min: 0, max: 120, step: 0.5 }),
    question = h("select");
  minutes.oninput = () => edit("minutes", Math.min(Math.max(Number(minutes.value) || 0, 0), 120));
  question.onchange = () => {
    const { value } = question;
    if (value !== OWN) actions.edit({ ask: value === NONE ? null : suggestions[Number(value)].ask });
    check();
  };
  const labelled = (name, control) => h("label", {}, h("span", {}, name), control),
    prompted = labelled("Asked as", prompt),
    answered = labelled("Said with the answer", after),
    up = button("Move up", () => actions.move(-1)),
    down = button("Move down", () => actions.move(1)),
    rest = [button("Try it", actions.give), button("Open it", actions.open), button("Delete", actions.remove)];
  const box = h(
    "div",
    { class: "moment-form" },
    labelled("What you say", text),
    labelled("Question", question),
    prompted,
    answer,
    answered,
    labelled("Notes for yourself", notes),
    labelled("Minutes", minutes),
    h("p", { class: "acts" }, up, down, rest),
  );
  const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const isOffered = ({ ask }) => isSame({ ...ask, prompt: "" }, { ...now.ask, prompt: "" });
  function drawQuestions() {
    const option = (label, value) => h("option", { value }, label),
      index = suggestions.findIndex(isOffered),
      options = suggestions.map(({ ask }, nth) => option(ask.prompt, String(nth)));
    if (now.ask && index < 0) options.unshift(option(now.ask.prompt, OWN));
    question.replaceChildren(option("No question", NONE), ...options);
    question.value = now.ask ? (index < 0 ? OWN : String(index)) : NONE;
  }
  async function fetchQuestions() {
    const { at } = now;
    offeredAt = at;
    suggestions = [];
    const questions = await requests.questions(now).catch(() => []);
    if (now.at !== at) return;
    suggestions = questions;
    drawQuestions();
  }
  // Shows the answer that the pass gives, or why it has none.
  async function check() {
    const moment = now,
      sentenceOf = ({ question: resolved }) => (resolved ? `The answer: ${answerOf(resolved)}.` : "");
    write(answer, "");
    const sentence = await requests.moment(moment).then(sentenceOf, errorText);
    if (now === moment) write(answer, sentence);
  }
  return {
    element: box,
    update(moment, index, n) {
      const isOther = now?.at !== moment.at || !isSame(now?.ask ?? null, moment.ask ?? null),
        minutesText = moment.minutes ? String(moment.minutes) : "",
        controls = [text, after, notes, prompt, minutes],
        values = [moment.text, moment.after, moment.notes, moment.ask?.prompt, minutesText];
      now = moment;
      for (const [i, control] of controls.entries())
        if (control.value !== (values[i] ?? "")) control.value = values[i] ?? "";
      prompted.hidden = moment.ask?.prompt === undefined;
      answered.hidden = !moment.ask && !moment.after;
      up.disabled = index === 0;
      down.disabled = index === n - 1;
      if (offeredAt !== moment.at) fetchQuestions();
      if (!isOther) return;
      drawQuestions();
      const { activeElement } = box.getRootNode();
      if (!box.contains(activeElement) || activeElement === question) check();
    },
    focus: () => text.focus(),
  };
}

const errorText = error =>
  error instanceof TypeError ? "The server doesn’t answer. What you typed is still here." : error.message;

function makeTextArea(rows, act, onchange = () => {}) {
  const box = h("textarea", { rows, maxLength: 3000, onchange });
  box.oninput = () => act(box.value);
  return box;
}

const HOW = "Look at something that you want to show, and press M, or “Add this moment” below the picture.";
const KEPT = "Kept in this browser, and nowhere else.",
  LOST = "Not kept: this browser forbids it or has no room left. Save it by “↓ File” before you leave this page.";

// actions: give(number), open(moment); `ways` are buttons that do something with the whole talk, `code` takes a QR code.
export function makeTalkDrawer(talkStore, requests, { give, open, ways, code }) {
  const title = h("input", { placeholder: "Title of the talk", maxLength: 200, "aria-label": "Title of the talk" }),
    count = h("p", { class: "note" }),
    list = h("ol", { class: "talk-moments" }),
    how = h("p", { class: "how" }, HOW),
    status = h("p", { class: "status", role: "status" }),
    giving = button("Give the talk", () => give(1), "check"),
    undo = button("Undo", () => talkStore.undo());
  const deleting = button("Throw away", () => {
    talkStore.change(NOTHING);
    report("Thrown away. Undo brings it back.");
  });
  const closing = button("Close", () => box.close()),
    head = h("header", {}, h("h2", {}, "Your talk"), closing),
    foot = h("footer", {}, giving, ways, undo, deleting),
    props = { class: "viewer talk-drawer asks", "aria-label": "Your talk" },
    box = h("dialog", props, head, title, count, how, list, status, code, foot);
  title.oninput = () => talkStore.change({ ...talkStore.talk, title: title.value }, "title");
  let home = null,
    chosen = -1, // the moment whose form is open
    drawn = "";
  const formActions = {
    edit: (parts, what) => talkStore.change(edited(talkStore.talk, chosen, parts), what && `${what} ${chosen}`),
    move: by => move(chosen, chosen + by),
    remove: () => remove(chosen),
    give: () => give(chosen + 1),
    open: () => open(talkStore.talk.moment[chosen]),
  };
  const form = makeTalkForm(formActions, requests),
    report = text => write(status, text);
  function move(from, to) {
    const { length } = talkStore.talk.moment;
    if (to < 0 || to >= length || from === to) return;
    if (chosen === from) chosen = to;
    talkStore.change(moved(talkStore.talk, from, to));
    focus(to);
    report(`Moment ${to + 1} of ${length}.`);
  }
  function remove(index) {
    chosen = -1;
    talkStore.change(without(talkStore.talk, index));
    report("Deleted. Undo brings it back.");
    focus(Math.min(index, talkStore.talk.moment.length - 1));
  }
  function focus(index) {
    (list.children[index]?.querySelector("button") ?? title).focus();
  }
  function choose(index) {
    chosen = chosen === index ? -1 : index;
    draw();
    if (chosen >= 0) list.children[index].scrollIntoView({ block: "nearest" });
  }
  function draw() {
    if (!box.open) return;
    const { talk, isKept, canUndo } = talkStore,
      moments = talk.moment,
      n = moments.length,
      order = JSON.stringify([chosen, moments.map(({ at }) => at)]),
      kept = isKept && requests.areKept(moments) ? KEPT : LOST;
    if (chosen >= n) chosen = -1;
    if (title.value !== talk.title) title.value = talk.title;
    write(count, n ? `${countOf(moments)} ${kept}${ownNumbersIn(moments)}` : "");
    how.hidden = n > 0;
    for (const each of [giving, deleting, ...ways.filter(way => !way.dataset.always)]) each.disabled = !n;
    undo.disabled = !canUndo;
    if (order !== drawn) {
      const { activeElement } = box.getRootNode(),
        focused = list.contains(activeElement) ? activeElement : null;
      list.replaceChildren(...moments.map(drawMoment));
      if (chosen >= 0) list.children[chosen].append(form.element);
      if (focused?.isConnected) focused.focus();
      drawn = order;
    }
    for (const [index, moment] of moments.entries())
      write(list.children[index].querySelector(".said"), labelOf(moment));
    if (chosen >= 0) form.update(moments[chosen], chosen, n);
  }
  function drawMoment(moment, index) {
    const thumbnail = talkStore.pictureOf(moment.at),
      picture = h("span", { class: "shown" }, drawThumbnail(thumbnail));
    if (!thumbnail) fetchThumbnail(moment, picture);
    return drawLine(index, index === chosen, picture, {
      choose: () => choose(index),
      remove: () => remove(index),
      move: to => move(index, to),
      bring: from => from in talkStore.talk.moment && move(from, index),
      focus: to => list.children[to]?.querySelector("button").focus(),
    });
  }
  // A moment from a link or a file has no thumbnail yet: it is drawn from its pass.
  async function fetchThumbnail(moment, picture) {
    const thumbnail = await requests.moment(moment).then(thumbnailFrom, () => null);
    if (!thumbnail) return;
    talkStore.keepPicture(moment.at, thumbnail);
    picture.replaceChildren(drawThumbnail(thumbnail));
  }
  talkStore.onChange(draw);
  return {
    element: box,
    report,
    standIn(root) {
      home = root;
    },
    open(index = -1) {
      chosen = index;
      drawn = "";
      report("");
      openDialog(box, home);
      draw();
      if (index < 0) return;
      list.children[index].scrollIntoView({ block: "nearest" });
      form.focus();
    },
    close: () => box.close(),
  };
}

// The line of a moment, with its picture; focus(to) focuses another line.
function drawLine(index, isChosen, picture, actions) {
  const opener = h("button", { type: "button", class: "moment", title: "Alt and ↑ or ↓ moves it, Delete deletes it" });
  opener.append(h("span", { class: "number" }, String(index + 1)), picture, h("span", { class: "said" }));
  opener.setAttribute("aria-expanded", String(isChosen));
  opener.onclick = actions.choose;
  opener.onkeydown = event => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Delete") actions.remove();
    else if (by) (event.altKey ? actions.move : actions.focus)(index + by);
    else return;
    event.preventDefault();
  };
  const line = h("li", { draggable: !isChosen }, opener); // dragging in the form selects text
  line.ondragstart = ({ dataTransfer }) => dataTransfer.setData("text/plain", String(index));
  line.ondragover = event => {
    event.preventDefault();
    line.classList.add("over");
  };
  line.ondragleave = () => line.classList.remove("over");
  line.ondrop = event => {
    event.preventDefault();
    line.classList.remove("over");
    actions.bring(Number.parseInt(event.dataTransfer.getData("text/plain"), 10));
  };
  return line;
}

function countOf(moments) {
  const minutes = minutesOf(moments),
    n = moments.length;
  return `${n} ${n === 1 ? "moment" : "moments"}${minutes ? `, ${minutes} min planned` : ""}.`;
}

// A link can't hold the user's own numbers.
function ownNumbersIn(moments) {
  const n = moments.filter(({ uploads }) => uploads?.length).length;
  if (!n) return "";
  return ` ${n === 1 ? "One shows" : `${n} show`} your own numbers: a file or a page of the talk has them, a link can’t.`;
}

function labelOf({ text = "", title = "", ask, at }) {
  const query = new URLSearchParams(at),
    scene = [query.get("model") ?? query.get("source"), query.get("sentence")].filter(Boolean).join(": ");
  return title || text || ask?.prompt || scene || "A first visit";
}
