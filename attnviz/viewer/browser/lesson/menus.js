// What stands around a moment: the contents, the way on, links and downloads, and the end of a talk.
import { button, h, makeMenu, makePopover, write } from "../dom/element.js";
import { onPlainClick } from "../dom/link.js";
import { ID, fileNameOf, headingOf, minutesText } from "./course.js";
import { saveFile } from "../views/download.js";
import { makeHandout } from "./handout.js";

const KEPT = "Only this browser knows.",
  LOST = "This browser keeps nothing, so it is forgotten once you leave this page.";

// forget() deletes the stored answers. With a talk of the user's edit() opens it, collect() adds this moment, startFrom() begins one with it.
function makeContents(state, memory, { go, forget, hrefTo, edit, collect, startFrom, openClass, isClass }) {
  const opener = button("All lessons", null, "link"),
    panel = makePopover(opener, "contents", "All lessons"),
    closing = act => () => {
      panel.hidePopover();
      act();
    };
  const list = h("ol"),
    score = h("p", { class: "score" }),
    forgetting = button("Forget my answers", forget),
    inClass = button("Open a class: phones follow you", closing(openClass)),
    talkSummary = h("span"),
    lessonButtons = [
      button("Add this moment", closing(collect)),
      button("Begin one with this lesson", closing(startFrom)),
    ],
    talkParts = edit ? [talkSummary, button("Your own talk", closing(edit)), ...lessonButtons] : [],
    talkLine = h("p", { class: "own-talk", hidden: !edit }, talkParts);
  panel.append(list, inClass, talkLine, score, forgetting);
  function drawLesson({ id, name, nMoments, minutes, says }) {
    const { position } = state,
      reached = memory.reached[id],
      { right, asked } = memory.scoreOf(id),
      moment = reached && reached < nMoments ? reached : 1,
      to = { lesson: id, moment, present: position.present },
      link = h("a", { href: hrefTo(to) }, name);
    if (id === position.lesson) link.setAttribute("aria-current", "page");
    onPlainClick(link, () => {
      panel.hidePopover();
      return go(to);
    });
    const progress = reached ? `at ${reached} of ${nMoments}` : "",
      predicted = asked ? `predicted ${right} of ${asked}` : "",
      note = [minutesText(minutes), progress, predicted].filter(Boolean).join(" · ");
    return h("li", {}, link, h("span", { class: "note" }, note), h("p", {}, says));
  }
  return {
    button: opener,
    panel,
    update() {
      const talk = state.talkEntry(),
        { right, asked } = memory.scoreOf(null);
      opener.hidden = state.entries().length === 1;
      write(
        talkSummary,
        talk ? `${talk.name}: ${talk.nMoments} moments. ` : "A talk of your own, of moments that you collect: ",
      );
      inClass.hidden = !openClass || isClass();
      for (const each of lessonButtons) each.hidden = state.position.lesson === talk?.id;
      list.replaceChildren(...state.lessons.map(drawLesson));
      write(score, asked ? `You predicted ${right} of ${asked}. ${memory.isKept ? KEPT : LOST}` : "");
      forgetting.hidden = !asked;
    },
  };
}

// Focus moves to the next usable button when the focused one becomes unusable.
function makeFoot(state, actions, takeaway) {
  const show = button("Show me", actions.press, "check"),
    back = button("Back", actions.back),
    next = button("Next", actions.press),
    ownSentence = makeSceneLink("type your own sentence", actions),
    walkthrough = makeSceneLink("open the whole walkthrough", actions),
    explore = makeSceneLink("Explore this in the walkthrough", actions, "button"),
    leaving = button("Leave", actions.present),
    teach = makeTeachMenu(state, actions, takeaway);
  const own = actions.opensSentences ? [] : [ownSentence.element, " · "], // there is a form for it
    first = h("span", { class: "first-ways" }, show, "or ", ...own, walkthrough.element),
    ways = h("span", { class: "ways-on" }, back, next),
    dots = h("ol", { class: "dots", "aria-label": "Moments" }),
    count = h("span", { class: "count" }),
    out = h("span", { class: "ways-out" }, explore.element, leaving, teach.button, teach.panel),
    box = h("footer", { class: "to-come" }, first, ways, dots, count, out); // until the first moment is there
  const isUsable = each => !each.disabled && each.checkVisibility({ visibilityProperty: true });
  const takeFocus = () => [next, show, back].find(isUsable)?.focus({ preventScroll: true });
  const drawDot = (number, current) => {
    const props = { class: number < current ? "done" : "", "aria-current": number === current ? "step" : null };
    return h("li", props, h("span", { class: "heard" }, `moment ${number}`));
  };
  return {
    element: box,
    takeFocus,
    update(ownSentenceAddress, prefersWalkthrough) {
      const { position, moment } = state,
        { nMoments } = state.entry(),
        [isDone, isFirst, isClass] = [state.isDone(), state.isFirst(), actions.isClass()],
        isEnd = state.next(1) === null,
        isReveal = isClass && moment?.question && !isDone,
        isLast = isDone && position.moment === nMoments && !isEnd,
        focused = box.getRootNode().activeElement;
      box.classList.remove("to-come");
      box.classList.toggle("prefers-walkthrough", isFirst && prefersWalkthrough);
      first.hidden = !isFirst;
      ways.hidden = isFirst;
      out.hidden = (isFirst && !position.present) || !moment;
      back.disabled = state.next(-1) === null;
      next.disabled = isEnd && isDone;
      next.classList.toggle("check", isDone && !isEnd);
      write(next, isReveal ? "Reveal" : isLast ? "Next lesson" : "Next");
      ownSentence.update(() => ownSentenceAddress);
      walkthrough.update(() => "");
      if (moment) explore.update(actions.exploreAddress);
      leaving.hidden = !position.present;
      teach.update();
      dots.replaceChildren(...state.positions().map(({ moment: number }) => drawDot(number, position.moment)));
      write(count, `${position.moment} of ${nMoments}`);
      if (box.contains(focused) && !isUsable(focused)) takeFocus();
    },
  };
}

// A link into the walkthrough, opened within the page if possible. update(addressNow) takes a function: a picture may have moved since.
function makeSceneLink(text, { open, hrefOf }, className = "") {
  const link = h("a", { class: className }, text);
  let addressNow = () => "";
  const refresh = () => {
    link.href = hrefOf(addressNow());
  };
  link.onpointerenter = link.onfocus = refresh;
  onPlainClick(link, () => open(addressNow()));
  return {
    element: link,
    update(now) {
      addressNow = now;
      refresh();
    },
  };
}

// What a lecturer needs and a learner doesn't. edit and showSpeaker need a talk, openClass a class; `takeaway` is of makeTakeaway.
function makeTeachMenu(state, actions, takeaway) {
  const opener = button("Teach"),
    panel = makeMenu(opener, "teach", "Teach");
  const item = (text, act) => {
    const choose = () => {
      panel.hidePopover();
      act();
    };
    return button(text, choose);
  };
  const presenting = item("Present", actions.present),
    speaking = item("Speaker’s window", actions.showSpeaker),
    editing = item("Edit", actions.edit),
    inClass = item("Open a class: phones follow you", actions.openClass),
    text = h("p"),
    notes = h("section", { class: "notes" }, h("strong", {}, "Notes"), text);
  panel.append(presenting, speaking, editing, inClass, ...takeaway, notes);
  return {
    button: opener,
    panel,
    update() {
      const { position, moment } = state,
        { isTalk } = state.entry();
      presenting.hidden = position.present;
      speaking.hidden = !(isTalk || state.lessons.length === 1) || "speaker" in position; // a page of one lesson may be a talk
      editing.hidden = !isTalk || position.present;
      inClass.hidden = !actions.openClass || actions.isClass(); // then the class bar has everything
      notes.hidden = !moment?.notes;
      write(text, moment?.notes ?? "");
    },
  };
}

const FORMS = [
  ["gift", "Questions for Moodle (GIFT)", "gift.txt", "text/plain"],
  ["slides", "Questions as slides (Markdown)", "md", "text/markdown"],
];

// The menu items of what can be taken away. title() names the lesson or talk, questions(form) resolves to a file of its questions, print()
// prints its handout.
export function makeTakeaway({ title, questions, print }) {
  const status = h("p", { class: "status", role: "status" });
  const reporting = act => async () => {
    write(status, "");
    try {
      await act();
    } catch (error) {
      write(status, `That didn’t work: ${error instanceof Error ? error.message : error} Try again.`);
    }
  };
  const saving = FORMS.map(([form, label, ending, type]) => {
    const save = async () => saveFile(await questions(form), `${fileNameOf(title())}.${ending}`, type);
    return button(label, reporting(save));
  });
  return [button("Print a handout", reporting(print)), ...saving, status];
}

// All of it. actions: those of makeFoot and makeContents. Returns {topElements, foot, over, drawContents(), openContents(), update(), print(), end()}.
export function makeMenus({ box, about }, state, { host, course, memory, moments }, actions) {
  const handout = makeHandout(window, box),
    print = async () => handout.print(state.entry().name, await Promise.all(state.positions().map(moments.get))),
    questions = form => {
      const { lesson } = state.position;
      return lesson === ID ? host.talk.questions(form) : host.questions(lesson, form);
    };
  const takeaway = makeTakeaway({ title: () => state.entry().name, questions, print }),
    foot = makeFoot(state, actions, takeaway),
    contents = makeContents(state, memory, actions),
    endTitle = h("h2"),
    over = h("section", { class: "talk-end", "aria-label": "The end", hidden: true }, endTitle, h("p", {}, "The end"));
  return {
    topElements: [contents.button, contents.panel],
    foot,
    over,
    drawContents: contents.update,
    openContents: () => contents.panel.showPopover(),
    update() {
      write(about, headingOf(state.entry(), state.lessons));
      contents.update();
      over.hidden = !state.isOver;
      write(endTitle, state.isOver ? state.entry().name : "");
      foot.update(course.ownSentence, memory.opensWalkthrough);
    },
    print,
    end: handout.end,
  };
}
