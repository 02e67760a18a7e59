// The drawer: one's own talk as a list of small pictures, in which moments are put in order, edited and thrown away.
import { button } from "../elements/button.js";
import { openDialog } from "../elements/dialog.js";
import { element, write } from "../elements/element.js";
import { drawSmallPicture, smallPictureFrom } from "./talkPicture.js";
import { edited, minutesOf, moved, NOTHING, without } from "./talkList.js";
import { makeTalkForm } from "./talkForm.js";

const HOW = "Look at something that you want to show, and press M, or “Add this moment” below the picture.";
const KEPT = "Kept in this browser, and nowhere else.",
  LOST = "Not kept: this browser forbids it or has no room left. Save it by “↓ File” before you leave this page.";

// `own` is the talk (ownTalk.js), `asking` asks the server about it; acts: {give(place), open(moment), ways, code}, of which ways are
// the elements of what else is done with the whole talk, and code is what a QR code stands in. Returns {element, standIn(home), open(place),
// say(text), close()}.
export function makeTalkDrawer(own, asking, { give, open, ways, code }) {
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
  title.oninput = () => own.change({ ...own.talk, title: title.value }, "title");
  status.setAttribute("role", "status");
  let home = null,
    chosen = -1,
    drawn = "";
  const giving = button("Give the talk", () => give(1), "check"),
    undo = button("Undo", () => own.undo()),
    away = button("Throw away", () => {
      own.change(NOTHING);
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
      edit: (parts, what) => own.change(edited(own.talk, chosen, parts), what && `${what} ${chosen}`),
      move: by => move(chosen, chosen + by),
      remove: () => remove(chosen),
      give: () => give(chosen + 1),
      open: () => open(own.talk.moment[chosen]),
    },
    asking,
  );
  const say = text => write(status, text);
  function move(from, to) {
    if (to < 0 || to >= own.talk.moment.length || from === to) return;
    const isChosen = chosen === from;
    if (isChosen) chosen = to;
    own.change(moved(own.talk, from, to));
    focus(to);
    say(`Moment ${to + 1} of ${own.talk.moment.length}.`);
  }
  function remove(at) {
    chosen = -1;
    own.change(without(own.talk, at));
    say("Deleted. Undo brings it back.");
    focus(Math.min(at, own.talk.moment.length - 1));
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
    const { moment: moments } = own.talk,
      n = moments.length,
      order = JSON.stringify([chosen, moments.map(({ at }) => at)]);
    if (chosen >= n) chosen = -1;
    if (title.value !== own.talk.title) title.value = own.talk.title;
    write(
      count,
      n ? `${countOf(moments)} ${own.isKept && asking.areKept(moments) ? KEPT : LOST}${ownNumbersIn(moments)}` : "",
    );
    how.hidden = n > 0;
    for (const each of [giving, away, ...ways.filter(way => !way.dataset.always)]) each.disabled = !n;
    undo.disabled = !own.canUndo;
    if (order !== drawn) {
      const { activeElement } = box.getRootNode(),
        held = list.contains(activeElement) ? activeElement : null;
      list.replaceChildren(...moments.map(drawMoment));
      if (chosen >= 0) list.children[chosen].append(form.element);
      if (held?.isConnected) held.focus();
      drawn = order;
    }
    for (const [at, moment] of moments.entries()) write(list.children[at].querySelector(".said"), saidOf(moment));
    if (chosen >= 0) form.update(moments[chosen], chosen, n);
  }
  function drawMoment(moment, at) {
    const picture = element("span", "shown"),
      known = own.pictureOf(moment.at);
    picture.append(drawSmallPicture(known));
    if (!known) fetchPicture(moment, picture);
    return drawLine(at, at === chosen, picture, {
      choose: () => choose(at),
      remove: () => remove(at),
      move: to => move(at, to),
      bring: from => from in own.talk.moment && move(from, at),
      focus: to => list.children[to]?.querySelector("button").focus(),
    });
  }
  // Of a moment from a link or a file the picture comes with its pass.
  async function fetchPicture(moment, picture) {
    const made = await asking.moment(moment).then(smallPictureFrom, () => null);
    if (!made) return;
    own.keepPicture(moment.at, made);
    picture.replaceChildren(drawSmallPicture(made));
  }
  own.onChange(draw);
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

// The line of the moment at a place, with its picture. acts: {choose(), remove(), move(to), bring(from), focus(to)}, of which the last
// gives another line the keyboard.
function drawLine(at, isChosen, picture, acts) {
  const line = element("li"),
    opener = button("", acts.choose, "moment");
  opener.append(element("span", "number", String(at + 1)), picture, element("span", "said"));
  opener.setAttribute("aria-expanded", String(isChosen));
  opener.title = "Alt and ↑ or ↓ moves it, Delete deletes it";
  opener.onkeydown = event => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (event.key === "Delete") acts.remove();
    else if (by) (event.altKey ? acts.move : acts.focus)(at + by);
    else return;
    event.preventDefault();
  };
  line.draggable = !isChosen; // in a form text is dragged
  line.ondragstart = ({ dataTransfer }) => dataTransfer.setData("text/plain", String(at));
  line.ondragover = event => {
    event.preventDefault();
    line.classList.add("over");
  };
  line.ondragleave = () => line.classList.remove("over");
  line.ondrop = event => {
    event.preventDefault();
    line.classList.remove("over");
    acts.bring(Number.parseInt(event.dataTransfer.getData("text/plain"), 10));
  };
  line.append(opener);
  return line;
}

function countOf(moments) {
  const minutes = minutesOf(moments),
    n = moments.length;
  return `${n} ${n === 1 ? "moment" : "moments"}${minutes ? `, ${minutes} min planned` : ""}.`;
}

// A link can't hold numbers of one's own.
function ownNumbersIn(moments) {
  const n = moments.filter(({ uploads }) => uploads?.length).length;
  if (!n) return "";
  return ` ${n === 1 ? "One shows" : `${n} show`} your own numbers: a file or a page of the talk has them, a link can’t.`;
}

// The text that a moment is known by: its own, or else that of its scene.
function saidOf({ text = "", title = "", ask, at }) {
  const query = new URLSearchParams(at),
    scene = [query.get("model") ?? query.get("source"), query.get("sentence")].filter(Boolean).join(": ");
  return title || text || ask?.prompt || scene || "A first visit";
}
