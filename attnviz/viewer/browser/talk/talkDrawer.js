// The drawer of a talk: the list of its moments, and the form that edits one.
import { button, element, write } from "../dom/element.js";
import { answerOf } from "../lesson/question.js";
import { openDialog } from "../dom/popup.js";
import { drawSmallPicture, smallPictureFrom } from "../lesson/speakerWindow.js";
import { NOTHING, edited, minutesOf, moved, without } from "../lesson/course.js";

const NONE = "none",
  OWN = "own";

// actions: {edit(parts, what), move(by), remove, give, open}: the last two show it as it is given, and as it was collected; `requests` asks the server. Returns {element, update(moment, place, n)}.
function makeTalkForm(actions, requests) {
  const box = element("div", "moment-form"),
    answer = element("p", "answer");
  answer.setAttribute("role", "status");
  let now = null, // the moment
    suggestions = [], // questions for the address `offeredAt`
    offeredAt = "";
  const edit = (name, value) => actions.edit({ [name]: value }, name);
  const text = textArea(3, value => edit("text", value), check),
    after = textArea(2, value => edit("after", value), check),
    notes = textArea(2, value => edit("notes", value)),
    prompt = textArea(2, value => actions.edit({ ask: { ...now.ask, prompt: value } }, "prompt"), check);
  const minutes = element("input");
  Object.assign(minutes, { type: "number", min: 0, max: 120, step: 0.5 });
  minutes.oninput = () => edit("minutes", Math.min(Math.max(Number(minutes.value) || 0, 0), 120));
  const question = element("select");
  question.onchange = () => {
    const { value } = question;
    if (value !== OWN) actions.edit({ ask: value === NONE ? null : suggestions[Number(value)].ask });
    check();
  };
  const prompted = labelled("Asked as", prompt),
    answered = labelled("Said with the answer", after);
  const up = button("Move up", () => actions.move(-1)),
    down = button("Move down", () => actions.move(1)),
    line = element("p", "acts");
  line.append(
    up,
    down,
    button("Try it", actions.give),
    button("Open it", actions.open),
    button("Delete", actions.remove),
  );
  box.append(
    labelled("What you say", text),
    labelled("Question", question),
    prompted,
    answer,
    answered,
    labelled("Notes for yourself", notes),
    labelled("Minutes", minutes),
    line,
  );

  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const isOffered = ({ ask }) => same({ ...ask, prompt: "" }, { ...now.ask, prompt: "" });
  function drawQuestions() {
    const at = suggestions.findIndex(isOffered),
      options = suggestions.map(({ ask }, nth) => optionOf(ask.prompt, String(nth)));
    if (now.ask && at < 0) options.unshift(optionOf(now.ask.prompt, OWN));
    question.replaceChildren(optionOf("No question", NONE), ...options);
    question.value = now.ask ? (at < 0 ? OWN : String(at)) : NONE;
  }
  async function offer() {
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
    const moment = now;
    write(answer, "");
    const sentence = await requests
      .moment(moment)
      .then(({ question: resolved }) => (resolved ? `The answer: ${answerOf(resolved)}.` : ""), errorText);
    if (now === moment) write(answer, sentence);
  }
  return {
    element: box,
    update(moment, place, n) {
      const isOther = now?.at !== moment.at || !same(now?.ask ?? null, moment.ask ?? null);
      now = moment;
      for (const [control, value] of [
        [text, moment.text],
        [after, moment.after],
        [notes, moment.notes],
        [prompt, moment.ask?.prompt],
        [minutes, moment.minutes ? String(moment.minutes) : ""],
      ])
        if (control.value !== (value ?? "")) control.value = value ?? "";
      prompted.hidden = !moment.ask || moment.ask.prompt === undefined;
      answered.hidden = !moment.ask && !moment.after;
      up.disabled = place === 0;
      down.disabled = place === n - 1;
      if (offeredAt !== moment.at) offer();
      if (isOther) {
        drawQuestions();
        if (!box.contains(box.getRootNode().activeElement) || box.getRootNode().activeElement === question) check();
      }
    },
    focus: () => text.focus(),
  };
}

function errorText(error) {
  return error instanceof TypeError ? "The server doesn’t answer. What you typed is still here." : error.message;
}

function labelled(name, control) {
  const label = element("label");
  label.append(element("span", "", name), control);
  return label;
}

function textArea(rows, act, end = () => {}) {
  const made = element("textarea");
  Object.assign(made, { rows, maxLength: 3000 });
  made.oninput = () => act(made.value);
  made.onchange = end;
  return made;
}

function optionOf(label, value) {
  const made = element("option", "", label);
  made.value = value;
  return made;
}

const HOW = "Look at something that you want to show, and press M, or “Add this moment” below the picture.";
const KEPT = "Kept in this browser, and nowhere else.",
  LOST = "Not kept: this browser forbids it or has no room left. Save it by “↓ File” before you leave this page.";

// `talkStore` holds the user's talk (talkController.js), `requests` asks the server about it; actions: {give(place), open(moment), ways, code}, of which ways are
// the elements of what else is done with the whole talk, and code is what a QR code stands in. Returns {element, standIn(home), open(place),
// say(text), close()}.
export function makeTalkDrawer(talkStore, requests, { give, open, ways, code }) {
  const box = element("dialog", "viewer talk-drawer asks"),
    head = element("header"),
    title = element("input"),
    count = element("p", "note"),
    list = element("ol", "talk-moments"),
    how = element("p", "how", HOW),
    foot = element("footer"),
    status = element("p", "status");
  box.setAttribute("aria-label", "Your talk");
  title.setAttribute("aria-label", "Title of the talk");
  Object.assign(title, { placeholder: "Title of the talk", maxLength: 200 });
  title.oninput = () => talkStore.change({ ...talkStore.talk, title: title.value }, "title");
  status.setAttribute("role", "status");
  let home = null,
    chosen = -1,
    drawn = "";
  const giving = button("Give the talk", () => give(1), "check"),
    undo = button("Undo", () => talkStore.undo()),
    away = button("Throw away", () => {
      talkStore.change(NOTHING);
      say("Thrown away. Undo brings it back.");
    });
  head.append(
    element("h2", "", "Your talk"),
    button("Close", () => box.close()),
  );
  foot.append(giving, ...ways, undo, away);
  box.append(head, title, count, how, list, status, code, foot);

  const form = makeTalkForm(
    {
      edit: (parts, what) => talkStore.change(edited(talkStore.talk, chosen, parts), what && `${what} ${chosen}`),
      move: by => move(chosen, chosen + by),
      remove: () => remove(chosen),
      give: () => give(chosen + 1),
      open: () => open(talkStore.talk.moment[chosen]),
    },
    requests,
  );
  const say = text => write(status, text);
  function move(from, to) {
    if (to < 0 || to >= talkStore.talk.moment.length || from === to) return;
    const isChosen = chosen === from;
    if (isChosen) chosen = to;
    talkStore.change(moved(talkStore.talk, from, to));
    focus(to);
    say(`Moment ${to + 1} of ${talkStore.talk.moment.length}.`);
  }
  function remove(at) {
    chosen = -1;
    talkStore.change(without(talkStore.talk, at));
    say("Deleted. Undo brings it back.");
    focus(Math.min(at, talkStore.talk.moment.length - 1));
  }
  function focus(at) {
    (list.children[at]?.querySelector("button") ?? title).focus();
  }
  function choose(at) {
    chosen = chosen === at ? -1 : at;
    draw();
    if (chosen >= 0) list.children[at].scrollIntoView({ block: "nearest" });
  }
  function draw() {
    if (!box.open) return;
    const { moment: moments } = talkStore.talk,
      n = moments.length,
      order = JSON.stringify([chosen, moments.map(({ at }) => at)]);
    if (chosen >= n) chosen = -1;
    if (title.value !== talkStore.talk.title) title.value = talkStore.talk.title;
    write(
      count,
      n
        ? `${countOf(moments)} ${talkStore.isKept && requests.areKept(moments) ? KEPT : LOST}${ownNumbersIn(moments)}`
        : "",
    );
    how.hidden = n > 0;
    for (const each of [giving, away, ...ways.filter(way => !way.dataset.always)]) each.disabled = !n;
    undo.disabled = !talkStore.canUndo;
    if (order !== drawn) {
      const { activeElement } = box.getRootNode(),
        focused = list.contains(activeElement) ? activeElement : null;
      list.replaceChildren(...moments.map(drawMoment));
      if (chosen >= 0) list.children[chosen].append(form.element);
      if (focused?.isConnected) focused.focus();
      drawn = order;
    }
    for (const [at, moment] of moments.entries()) write(list.children[at].querySelector(".said"), labelOf(moment));
    if (chosen >= 0) form.update(moments[chosen], chosen, n);
  }
  function drawMoment(moment, at) {
    const picture = element("span", "shown"),
      known = talkStore.pictureOf(moment.at);
    picture.append(drawSmallPicture(known));
    if (!known) fetchPicture(moment, picture);
    return drawLine(at, at === chosen, picture, {
      choose: () => choose(at),
      remove: () => remove(at),
      move: to => move(at, to),
      bring: from => from in talkStore.talk.moment && move(from, at),
      focus: to => list.children[to]?.querySelector("button").focus(),
    });
  }
  // A moment from a link or a file has no thumbnail yet: it is drawn from its pass.
  async function fetchPicture(moment, picture) {
    const made = await requests.moment(moment).then(smallPictureFrom, () => null);
    if (!made) return;
    talkStore.keepPicture(moment.at, made);
    picture.replaceChildren(drawSmallPicture(made));
  }
  talkStore.onChange(draw);
  return {
    element: box,
    say,
    standIn(root) {
      home = root;
    },
    open(at = -1) {
      chosen = at;
      drawn = "";
      say("");
      openDialog(box, home);
      draw();
      if (at >= 0) {
        list.children[at].scrollIntoView({ block: "nearest" });
        form.focus();
      }
    },
    close: () => box.close(),
  };
}

// The line of the moment at a place, with its picture. actions: {choose(), remove(), move(to), bring(from), focus(to)}, of which the last
// gives another line the keyboard.
function drawLine(at, isChosen, picture, actions) {
  const line = element("li"),
    opener = button("", actions.choose, "moment");
  opener.append(element("span", "number", String(at + 1)), picture, element("span", "said"));
  opener.setAttribute("aria-expanded", String(isChosen));
  opener.title = "Alt and ↑ or ↓ moves it, Delete deletes it";
  opener.onkeydown = event => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Delete") actions.remove();
    else if (by) (event.altKey ? actions.move : actions.focus)(at + by);
    else return;
    event.preventDefault();
  };
  line.draggable = !isChosen; // dragging in the form selects text
  line.ondragstart = ({ dataTransfer }) => dataTransfer.setData("text/plain", String(at));
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
  line.append(opener);
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

// A moment's label in the list: its own text, or else its scene's.
function labelOf({ text = "", title = "", ask, at }) {
  const query = new URLSearchParams(at),
    scene = [query.get("model") ?? query.get("source"), query.get("sentence")].filter(Boolean).join(": ");
  return title || text || ask?.prompt || scene || "A first visit";
}
