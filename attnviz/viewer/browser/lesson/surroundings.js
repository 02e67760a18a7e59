// What surrounds a moment: contents, links, downloads, the handout and the end of a talk.
import { button, element, redraw, write } from "../dom/element.js";
import { onPlainClick } from "../dom/link.js";
import { makePopover } from "../dom/popup.js";
import { ID, aboutOf, minutesText } from "./course.js";
import { drawSentence } from "./momentView.js";
import { verdictOn } from "./question.js";
import { saveFile } from "../views/download.js";
import { pictureOf } from "./momentPicture.js";

const KEPT = "Only this browser knows.",
  LOST = "This browser keeps nothing, so it is forgotten once you leave this page.";

// `here` are the whereabouts. go(place) leads to a lesson, hrefTo(place) is its link; forget() makes this browser forget; edit(),
// collect() and startFrom(), where there is a talk of one's own, open it, add this moment to it and make it of the lesson that one is in;
// openClass(), where that can be, opens a class, and isClass() says whether it is open. Returns {button, panel, update()}.
function makeContents(here, memory, { go, forget, hrefTo, edit, collect, startFrom, openClass, isClass }) {
  const opener = button("All lessons", null, "link"),
    panel = makePopover(opener, "contents", "All lessons"),
    list = element("ol"),
    score = element("p", "score"),
    forgetting = button("Forget my answers", forget);
  const talkLine = element("p", "own-talk"),
    saying = element("span"),
    shut = act => () => {
      panel.hidePopover();
      act();
    };
  talkLine.hidden = !edit;
  if (edit)
    talkLine.append(
      saying,
      button("Your own talk", shut(edit)),
      button("Add this moment", shut(collect)),
      button("Begin one with this lesson", shut(startFrom)),
    );
  const ofLessons = [...talkLine.querySelectorAll("button")].slice(1),
    inClass = button("Open a class: phones follow you", shut(openClass));
  panel.append(list, inClass, talkLine, score, forgetting);
  return {
    button: opener,
    panel,
    update() {
      const { lessons, place } = here,
        talkEntry = here.own();
      opener.hidden = here.course().length === 1;
      write(
        saying,
        talkEntry
          ? `${talkEntry.name}: ${talkEntry.nMoments} moments. `
          : "A talk of your own, of moments that you collect: ",
      );
      inClass.hidden = !openClass || isClass();
      for (const each of ofLessons) each.hidden = place.lesson === talkEntry?.id;
      list.replaceChildren(
        ...lessons.map(each => {
          const line = element("li"),
            door = element("a", "", each.name),
            reached = memory.reached[each.id],
            { right, asked } = memory.scoreOf(each.id);
          const there = {
            lesson: each.id,
            moment: reached && reached < each.nMoments ? reached : 1,
            present: place.present,
          };
          door.href = hrefTo(there);
          if (each.id === place.lesson) door.setAttribute("aria-current", "page");
          onPlainClick(door, () => {
            panel.hidePopover();
            return go(there);
          });
          const far = reached ? `at ${reached} of ${each.nMoments}` : "",
            predicted = asked ? `predicted ${right} of ${asked}` : "";
          line.append(
            door,
            element("span", "note", [minutesText(each.minutes), far, predicted].filter(Boolean).join(" · ")),
            element("p", "", each.says),
          );
          return line;
        }),
      );
      const { right, asked } = memory.scoreOf(null);
      write(score, asked ? `You predicted ${right} of ${asked}. ${memory.isKept ? KEPT : LOST}` : "");
      forgetting.hidden = !asked;
    },
  };
}

// `here` are the whereabouts. actions: {press, back, open(address), hrefOf(address), present, edit, showSpeaker, openClass, isClass()}: edit
// and showSpeaker are of a talk; openClass is there where a class can be opened. Returns {element, takeFocus(), update({ownSentence,
// prefersWalkthrough})}; the way on, or else the way back, takes the keyboard from what can't have it any more.
function makeFoot(here, actions) {
  const box = element("footer", "to-come"), // until the first moment is there
    first = element("span", "first-ways"),
    ways = element("span", "ways-on"),
    dots = element("ol", "dots"),
    count = element("span", "count"),
    out = element("span", "ways-out");
  const show = button("Show me", actions.press, "check"),
    back = button("Back", actions.back),
    on = button("Next", actions.press),
    ownSentenceLink = makeSceneLink("type your own sentence", actions),
    walkthroughLink = makeSceneLink("open the whole walkthrough", actions),
    exploreLink = makeSceneLink("Look around from here", actions, "button"),
    presenting = button("Present", actions.present),
    editing = button("Edit", actions.edit),
    speaking = button("Speaker’s window", actions.showSpeaker),
    inClass = button("Class", actions.openClass),
    notes = makeNotes();
  dots.setAttribute("aria-label", "Moments");
  first.append(show, element("span", "", "or "), ownSentenceLink.element, " · ", walkthroughLink.element);
  ways.append(back, on);
  out.append(exploreLink.element, presenting, speaking, editing, inClass, notes.button, notes.panel);
  box.append(first, ways, dots, count, out);
  const isUsable = each => !each.disabled && each.checkVisibility({ visibilityProperty: true });
  const takeFocus = () => [on, show, back].find(isUsable)?.focus({ preventScroll: true });
  return {
    element: box,
    takeFocus,
    update({ ownSentence, prefersWalkthrough }) {
      const { place, moment } = here,
        [entry, isDone, isFirst, isClass] = [here.entry(), here.isDone(), here.isFirst(), actions.isClass()],
        isEnd = here.beside(1) === null;
      const focused = box.getRootNode().activeElement;
      box.classList.remove("to-come");
      first.hidden = !isFirst;
      ways.hidden = isFirst;
      out.hidden = (isFirst && !place.present) || !moment;
      box.classList.toggle("prefers-walkthrough", isFirst && prefersWalkthrough);
      back.disabled = here.beside(-1) === null;
      on.disabled = isEnd && isDone;
      on.classList.toggle("check", isDone && !isEnd);
      inClass.hidden = !actions.openClass || isClass; // then the class bar has everything
      write(
        on,
        isClass && moment?.question && !isDone
          ? "Reveal"
          : isDone && place.moment === entry.nMoments && !isEnd
            ? "Next lesson"
            : "Next",
      );
      ownSentenceLink.update(ownSentence);
      walkthroughLink.update("");
      if (moment) exploreLink.update(moment.at);
      write(presenting, place.present ? "Leave" : "Present");
      editing.hidden = !entry.isOwn || place.present;
      speaking.hidden = !here.isTalk() || "speaker" in place;
      notes.update(moment?.notes ?? "");
      redraw(
        dots,
        Array.from({ length: entry.nMoments }, (_, nth) => {
          const dot = element("li", nth + 1 < place.moment ? "done" : "");
          if (nth + 1 === place.moment) dot.setAttribute("aria-current", "step");
          dot.append(element("span", "heard", `moment ${nth + 1}`));
          return dot;
        }),
      );
      write(count, `${place.moment} of ${entry.nMoments}`);
      if (box.contains(focused) && !isUsable(focused)) takeFocus();
    },
  };
}

// A link into the walkthrough, opened within the page if possible.
function makeSceneLink(text, { open, hrefOf }, className = "") {
  const made = element("a", className, text);
  let address = "";
  onPlainClick(made, () => open(address));
  return {
    element: made,
    update: to => {
      address = to;
      made.href = hrefOf(to);
    },
  };
}

function makeNotes() {
  const opener = button("Notes", null),
    panel = makePopover(opener, "notes", "Notes for the speaker");
  return {
    button: opener,
    panel,
    update: notes => {
      write(panel, notes);
      opener.hidden = !notes;
      if (!notes && panel.matches(":popover-open")) panel.hidePopover();
    },
  };
}

const A4 = "@page { size: A4 portrait; margin: 12mm; }";
const INERT = { point: () => {}, open: () => {} };
const ON_A_PAGE = 3;
const LARGEST = 8.5,
  SMALLEST = 6,
  STEP = 0.25; // in points

// Puts it into `root` as the browser prints it, and away afterwards; makePictureOf(moment) makes an element that shows moments, as
// makeMomentPicture. Returns {print(title, moments), end()}.
function makeHandout(window, root, makePictureOf) {
  const pages = element("div", "pages handout"),
    paper = new window.CSSStyleSheet(); // @page rules don't work in a shadow tree
  let request = null,
    pictures = [];
  paper.replaceSync(A4);
  const before = () => {
    if (!request) return;
    root.append(pages);
    pictures = drawPages(pages, request, makePictureOf);
    window.document.adoptedStyleSheets.push(paper);
  };
  const after = () => {
    for (const each of pictures) each.leave();
    pictures = [];
    request = null;
    pages.replaceChildren();
    pages.remove();
    window.document.adoptedStyleSheets = window.document.adoptedStyleSheets.filter(each => each !== paper);
  };
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return {
    print(title, moments) {
      request = { title, moments };
      window.print();
    },
    end() {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
      after();
    },
  };
}

// Draws all pages and returns their pictures, which are laid out at screen size and scaled down by lesson.css.
function drawPages(pages, { title, moments }, makePictureOf) {
  const pictures = [],
    count = Math.ceil(moments.length / ON_A_PAGE);
  pages.replaceChildren();
  for (let nth = 0; nth < count; nth += 1) {
    const page = element("section", "three"),
      head = element("header");
    head.append(element("strong", "", title), element("span", "", `Page ${nth + 1} of ${count}`));
    page.append(head);
    pages.append(page);
    for (const [place, moment] of moments.slice(nth * ON_A_PAGE, (nth + 1) * ON_A_PAGE).entries()) {
      const picture = makePictureOf(moment);
      page.append(drawMoment(moment, nth * ON_A_PAGE + place + 1, picture));
      picture.show(moment, false, false);
      fit(page.lastChild.lastChild);
      pictures.push(picture);
    }
  }
  pages.classList.add("drawn");
  return pictures;
}

// Shrinks a long text to leave lines to write on.
function fit(textBox) {
  for (let size = LARGEST; size >= SMALLEST; size -= STEP) {
    textBox.style.fontSize = `${size}pt`;
    if (textBox.scrollHeight <= textBox.clientHeight) return;
  }
}

function drawMoment(moment, number, picture) {
  const { title, text, after, question, ending } = moment,
    box = element("article"),
    shown = element("div", "shown"),
    frame = element("div", "frame"),
    textBox = element("div", "said");
  shown.append(picture.element);
  frame.append(shown);
  textBox.append(
    element("h2", "", `${number}. ${title}`.trim()),
    ...[
      text,
      ...(question ? [question.prompt, ...verdictOn(question, null, after).sentences] : [after]),
      ...(ending ? [ending.explain] : []),
    ]
      .filter(runs => runs.length)
      .map(runs => drawSentence(runs, INERT)),
    element("div", "lines"),
  );
  box.append(frame, textBox);
  return box;
}

const FORMS = [
  ["gift", "Questions for Moodle (GIFT)", "gift.txt", "text/plain"],
  ["slides", "Questions as slides (Markdown)", "md", "text/markdown"],
];

// host: {title(), questions(form), print()}: its name, a promise of the text of a file of its questions, and one of its printing.
// Returns {button, panel}.
export function makeTakeaway({ title, questions, print }) {
  const status = element("p", "status");
  status.setAttribute("role", "status");
  const trying = act => async () => {
    write(status, "");
    try {
      await act();
    } catch (error) {
      write(status, `That didn’t work: ${error instanceof Error ? error.message : error} Try again.`);
    }
  };
  const save = (form, ending, type) => async () =>
    saveFile(await questions(form), `${fileNameOf(title())}.${ending}`, type);
  const opener = button("Handout and questions", null, "link"),
    panel = makePopover(opener, "takeaway", "Handout and questions");
  panel.append(
    button("Print a handout", trying(print)),
    ...FORMS.map(([form, label, ending, type]) => button(label, trying(save(form, ending, type)))),
    status,
  );
  return { button: opener, panel };
}

// A file name that every system accepts.
export function fileNameOf(title) {
  return title.replace(/[^\p{L}\p{M}\p{N}]+/gu, " ").trim() || "talk";
}

// The end of a talk. In update(name) an empty name hides it.
function makeTalkEnd() {
  const box = element("section", "talk-end"),
    name = element("h2");
  box.setAttribute("aria-label", "The end");
  box.append(name, element("p", "", "The end"));
  box.hidden = true;
  return {
    element: box,
    update: title => {
      box.hidden = !title;
      write(name, title);
    },
  };
}

// `here` are the whereabouts, actions those of makeFoot and makeContents. Returns {ways, foot, over, list(), update(), print(), end()}: list()
// draws the contents alone.
export function makeSurroundings({ box, about }, here, { host, given: course, memory, moments }, actions) {
  const foot = makeFoot(here, actions),
    contents = makeContents(here, memory, actions),
    takeaway = makeTakeaway({
      title: () => here.entry().name,
      questions: form =>
        here.place.lesson === ID ? host.talk.questions(form) : host.questions(here.place.lesson, form),
      print,
    }),
    handout = makeHandout(window, box, each => pictureOf(each)),
    over = makeTalkEnd();
  async function print() {
    handout.print(here.entry().name, await Promise.all(here.places().map(moments.get)));
  }
  return {
    ways: [contents, takeaway].flatMap(({ button, panel }) => [button, panel]),
    foot,
    over: over.element,
    list: contents.update,
    update() {
      write(about, aboutOf(here.entry(), here.lessons));
      contents.update();
      takeaway.button.hidden = here.isFirst();
      over.update(here.isOver ? here.entry().name : "");
      foot.update({ ownSentence: course.ownSentence, prefersWalkthrough: memory.opensWalkthrough });
    },
    print,
    end: handout.end,
  };
}
