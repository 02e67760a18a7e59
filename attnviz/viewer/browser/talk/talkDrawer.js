// The drawer of a talk: the list of its moments, one of which is open in a form (talkForm.js).
import { button, h, openDialog, redraw, write } from "../dom/element.js";
import { drawSlideThumbnail } from "../lesson/slide.js";
import { OWN_KINDS, drawThumbnail, thumbnailFrom } from "../lesson/speakerWindow.js";
import { NOTHING, imagesOf, minutesOf } from "./talkFiles.js";
import { imageUrl, newImageName, readImage, makeTalkForm } from "./talkForm.js";
import { isOwn } from "./questionForm.js";

export const MOST_MOMENTS = 60; // as in core/limits.py

export const added = (talk, moment, at = talk.moment.length) => ({
  ...talk,
  moment: talk.moment.toSpliced(at, 0, moment),
});

export const without = (talk, at) => ({ ...talk, moment: talk.moment.toSpliced(at, 1) });

export const moved = (talk, from, to) =>
  added(without(talk, from), talk.moment[from], Math.min(Math.max(to, 0), talk.moment.length - 1));

// Empty parts are dropped.
export function edited(talk, at, parts) {
  const combined = Object.entries({ ...talk.moment[at], ...parts }),
    moment = Object.fromEntries(combined.filter(([name, part]) => name === "at" || part));
  return { ...talk, moment: talk.moment.with(at, moment) };
}

const HOW =
  "Look at something that you want to show, and press M, or choose “Add this moment to my talk”: in a lesson it is under Teach, in the walkthrough under Share. Or add a slide of your own.";
export const FULL = `A talk has at most ${MOST_MOMENTS} moments: delete one first.`;
const KEPT = "Kept in this browser, and nowhere else.",
  LOST = "Not kept: this browser forbids it or has no room left. Save it by “↓ File” before you leave this page.";

// actions: give(number, what), which there does "openClass", open(moment); `ways` are buttons that do something with the whole talk, `code` takes a QR code.
export function makeTalkDrawer(talkStore, requests, { give, open, ways, code }) {
  const title = h("input", { placeholder: "Title of the talk", maxLength: 200, "aria-label": "Title of the talk" }),
    count = h("p", { class: "note" }),
    list = h("ol", { class: "talk-moments" }),
    how = h("p", { class: "how" }, HOW),
    status = h("p", { class: "status", role: "status" }),
    giving = button("Give the talk", () => give(1), "check"),
    toClass = button("Give it to a class", () => give(1, "openClass")),
    slides = button("Add a slide", addSlide),
    undo = button("Undo", () => talkStore.undo());
  const deleting = button("Throw away", () => {
    talkStore.change(NOTHING);
    report("Thrown away. Undo brings it back.");
  });
  const closing = button("Close", () => box.close()),
    head = h("header", {}, h("h2", {}, "Your talk"), closing),
    foot = h("footer", {}, status, giving, toClass, ways, undo, deleting),
    props = { class: "viewer talk-drawer asks", "aria-label": "Your talk" },
    box = h("dialog", props, head, title, count, how, list, h("p", {}, slides), code, foot);
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
    addImage,
  };
  const form = makeTalkForm(formActions, requests),
    report = text => write(status, text);
  // After the moment that is open, or at the end.
  function addSlide() {
    const { talk } = talkStore,
      at = chosen < 0 ? talk.moment.length : chosen + 1;
    if (talk.moment.length >= MOST_MOMENTS) return report(FULL);
    chosen = at;
    talkStore.change(added(talk, { at: "", slide: {} }, at));
    report("");
    form.focus();
  }
  async function addImage(file) {
    const used = await requests.imagesOf(talkStore.talk.moment.filter((_, nth) => nth !== chosen)),
      image = await readImage(file, Object.values(used).join("").length),
      name = newImageName(window.crypto);
    await requests.keepImage(name, image);
    return name;
  }
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
      order = JSON.stringify([chosen, moments.map(({ at, slide }) => [at, Boolean(slide)])]),
      kept = isKept && requests.areKept(moments) ? KEPT : LOST;
    if (chosen >= n) chosen = -1;
    if (title.value !== talk.title) title.value = talk.title;
    write(
      count,
      n ? `${countOf(moments)} ${kept}${ownNumbersIn(moments)}${imagesOf(moments).length ? IMAGES : ""}` : "",
    );
    how.hidden = n > 0;
    for (const each of [giving, toClass, deleting, ...ways.filter(way => !way.dataset.always)]) each.disabled = !n;
    undo.disabled = !canUndo;
    if (order !== drawn) {
      const { activeElement } = box.getRootNode(),
        focused = list.contains(activeElement) ? activeElement : null;
      list.replaceChildren(...moments.map(drawMoment));
      if (chosen >= 0) list.children[chosen].append(form.element);
      if (focused?.isConnected) focused.focus();
      drawn = order;
    }
    for (const [index, moment] of moments.entries()) {
      write(list.children[index].querySelector(".said"), labelOf(moment, talkStore.pictureOf(moment.at)));
      if (moment.slide) drawSlideIn(list.children[index].querySelector(".shown"), moment);
    }
    if (chosen >= 0) form.update(moments[chosen], chosen, n);
  }
  function drawMoment(moment, index) {
    const kind = OWN_KINDS[moment.picture?.kind],
      thumbnail = kind ? { kind } : moment.slide ? null : talkStore.pictureOf(moment.at),
      picture = h("span", { class: "shown" }, drawThumbnail(thumbnail));
    if (!thumbnail && !moment.slide) fetchThumbnail(moment, picture);
    return drawLine(index, index === chosen, picture, {
      choose: () => choose(index),
      remove: () => remove(index),
      move: to => move(index, to),
      drop: from => from in talkStore.talk.moment && move(from, index),
      focus: to => list.children[to]?.querySelector("button").focus(),
    });
  }
  // A moment from a link or a file has no thumbnail yet: it is drawn from its pass.
  async function fetchThumbnail(moment, picture) {
    const thumbnail = await requests.moment(moment).then(thumbnailFrom, () => null);
    if (!thumbnail) return;
    talkStore.keepPicture(moment.at, thumbnail);
    picture.replaceChildren(drawThumbnail(thumbnail));
    draw(); // it may have the moment's name
  }
  // A slide's is drawn anew as it is written.
  async function drawSlideIn(box, moment) {
    const { title, slide } = moment,
      says = requests.nameOf(moment);
    if (box.dataset.says === says) return;
    box.dataset.says = says;
    const image = slide.image && (await requests.image(slide.image));
    if (box.dataset.says === says)
      redraw(box, [drawSlideThumbnail({ title, ...slide, image: image ? imageUrl(image) : "" })]);
  }
  talkStore.onChange(draw);
  return {
    element: box,
    report,
    attachTo(root) {
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
    actions.drop(Number.parseInt(event.dataTransfer.getData("text/plain"), 10));
  };
  return line;
}

function countOf(moments) {
  const minutes = minutesOf(moments),
    n = moments.length;
  return `${n} ${n === 1 ? "moment" : "moments"}${minutes ? `, ${minutes} min planned` : ""}.`;
}

const IMAGES = " A file or a page of the talk has its images, a link can’t.";

// A link can't hold the user's own numbers.
function ownNumbersIn(moments) {
  const n = moments.filter(({ uploads }) => uploads?.length).length;
  if (!n) return "";
  return ` ${n === 1 ? "One shows" : `${n} show`} your own numbers: a file or a page of the talk has them, a link can’t.`;
}

// What a moment is called in the list, of whose step its thumbnail has the name: of a computed question only words without slots, which would
// be read as typed.
function labelOf({ text = "", title = "", ask, at, slide, asked_as: askedAs = "" }, thumbnail) {
  const query = new URLSearchParams(at),
    scene = [thumbnail?.name ?? query.get("model") ?? query.get("source"), query.get("sentence")]
      .filter(Boolean)
      .join(": ");
  const own = slide ? slide.text || slide.items?.[0] : "",
    asked = askedAs || (ask && (isOwn(ask) || !ask.prompt.includes("{")) ? ask.prompt : "");
  return title || own || text || asked || (slide ? "A slide" : scene || "A first visit");
}
