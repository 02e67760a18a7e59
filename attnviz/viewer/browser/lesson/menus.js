// Everything around a moment: the list of lessons, the footer with Back and Next, links, the Teach menu, and the end of a talk.
import { button, closingPopover, h, makeMenu, makePopover, onPrint, redraw, write } from "../dom/element.js";
import { onPlainClick } from "../dom/link.js";
import { OPTIONAL } from "./momentText.js";
import { CONTENTS, END, END_POSITION, ID, lessonHeading } from "./course.js";
import { keptText, makeEndPage } from "./endPage.js";
import { makeTakeaway } from "./takeaway.js";
import { isSlide } from "./slide.js";

const PAPER = "@page { size: A4 portrait; margin: 15mm; }";
const MARKS = new Map([
  [true, "right"],
  [false, "wrong"],
  [null, "done"],
  [undefined, "unseen"],
]);
const SPOKEN = { right: "right", wrong: "not right", done: "done", unseen: "not seen" };

// All lessons, in a panel that a button opens, or as a page. forget() deletes what is stored. With a talk of the user's edit() opens it,
// collect() adds this moment, startFrom() begins one with it.
function makeContents(state, memory, actions) {
  const { go, resume, forget, hrefTo, edit, collect, startFrom, openClass, isClass } = actions,
    opener = button("All lessons", null, "link"),
    panel = makePopover(opener, "contents", "All lessons"),
    closing = act => closingPopover(panel, act);
  const lead = h("p", { class: "lead" }),
    list = h("ol"),
    legend = h("p", { class: "note legend" }, ...Object.entries(SPOKEN).map(([name, text]) => drawMark(name, text))),
    forgetting = makeForgetting(memory, forget),
    inClass = button("Open a class: phones follow you", closing(openClass)),
    talkSummary = h("span"),
    lessonButtons = [
      button("Add this moment", closing(collect)),
      button("Begin one with this lesson", closing(startFrom)),
    ],
    talkParts = edit ? [talkSummary, button("Your own talk", closing(edit)), ...lessonButtons] : [],
    talkLine = h("p", { class: "own-talk", hidden: !edit }, talkParts),
    page = h("div", { class: "contents" }),
    parts = [list, legend, inClass, talkLine, forgetting.element];
  const linkTo = (position, text, className = "") => {
    const to = { ...position, present: state.position.present },
      link = h("a", { class: className, href: hrefTo(to) }, text);
    onPlainClick(
      link,
      closing(() => go(to)),
    );
    return link;
  };
  function drawLesson(entry, next) {
    const { id, name, minutes, says, why, moments = [] } = entry,
      link = linkTo(memory.firstToDo(id) ?? { lesson: id, moment: 1 }, name, "name");
    if (id === state.position.lesson && !state.around) link.setAttribute("aria-current", "page");
    const marks = memory.resultsOf(id).flatMap((result, nth) => {
      const { title = "", isOptional = false } = moments[nth] ?? {};
      return isOptional ? [] : [drawMark(MARKS.get(result), `${title || `moment ${nth + 1}`}: `, "li")];
    });
    return h(
      "li",
      {},
      h("div", {}, link, h("span", { class: "note" }, `${minutes} min`), next && linkTo(next, "Go on", "button")),
      h("p", {}, why || says),
      h("ol", { class: "marks", "aria-label": `Moments of ${name}` }, marks),
    );
  }
  function drawPage() {
    const to = resume(),
      name = to?.lesson === END ? "the end" : state.entries().find(({ id }) => id === to?.lesson)?.name,
      way = to ? linkTo(to, "Go on where you were", "button check") : linkTo(state.first, "Begin", "button check");
    const goOn = h("p", { class: "go-on" }, way, h("span", { class: "note" }, name ?? ""));
    page.replaceChildren(h("h2", {}, "All lessons"), lead, goOn, ...parts);
  }
  return {
    button: opener,
    panel,
    page,
    update() {
      const talk = state.talkEntry(),
        isPage = state.around === CONTENTS,
        next = memory.nextToDo(),
        { length } = state.lessons,
        minutes = state.lessons.reduce((sum, each) => sum + each.minutes, 0);
      opener.hidden = state.entries().length === 1 || isPage;
      if (isPage) drawPage();
      else panel.replaceChildren(lead, ...parts);
      write(lead, `${length} lessons, about ${minutes} minutes in all.`);
      write(
        talkSummary,
        talk ? `${talk.name}: ${talk.nMoments} moments. ` : "A talk of your own, of moments that you collect: ",
      );
      inClass.hidden = !openClass || isClass();
      for (const each of lessonButtons) each.hidden = isPage || state.position.lesson === talk?.id;
      const items = state.lessons.map(entry => drawLesson(entry, entry.id === next?.lesson ? next : null));
      list.replaceChildren(...items, h("li", { class: "last" }, linkTo(END_POSITION, "The end: what you can explain")));
      forgetting.update();
    },
  };
}

const drawMark = (name, text, tag = "span") =>
  tag === "li"
    ? h("li", { class: name, title: text + SPOKEN[name] }, h("span", { class: "sr-only" }, text + SPOKEN[name]))
    : h("span", {}, h("i", { class: `mark ${name}` }), text);

// What this browser keeps, and a button that deletes it after asking: own words can't be restored.
function makeForgetting(memory, forget) {
  const score = h("span"),
    ask = button("Forget all", () => set(true), "link"),
    sure = button("Yes, forget answers and own words", () => {
      set(false);
      forget();
      element.parentElement?.querySelector("a")?.focus();
    }),
    keep = button("Keep them", () => set(false)),
    element = h("p", { class: "note forgetting" }, score, ask, sure, keep);
  function set(isAsking) {
    ask.hidden = isAsking;
    sure.hidden = keep.hidden = !isAsking;
    (isAsking ? keep : ask).focus({ preventScroll: true });
  }
  sure.hidden = keep.hidden = true;
  return {
    element,
    update() {
      const { right, asked } = memory.scoreOf(null);
      element.hidden = memory.isEmpty;
      write(score, `${asked ? `You predicted ${right} of ${asked}. ` : ""}${keptText(memory.isKept)}`);
    },
  };
}

// Focus moves to the next usable button when the focused one becomes unusable.
function makeFoot(state, actions, takeaway) {
  const show = button("Show me", actions.press, "check"),
    back = button("Back", actions.back),
    next = button("Next", actions.press),
    walkthrough = makeSceneLink("open the whole walkthrough", actions),
    explore = makeSceneLink("Explore this in the walkthrough", actions, "button"),
    leaving = button("Leave", actions.present),
    teach = makeTeachMenu(state, actions, takeaway);
  const first = h("span", { class: "first-ways" }, show, "or ", walkthrough.element),
    ways = h("span", { class: "ways-on" }, back, next),
    dots = h("ol", { class: "dots", "aria-label": "Moments" }),
    count = h("span", { class: "count" }),
    out = h("span", { class: "ways-out" }, explore.element, leaving, teach.button, teach.panel),
    box = h("footer", { class: "to-come" }, first, ways, dots, count, out); // until the first moment is there
  let wasPresented = false;
  const isUsable = each => !each.disabled && each.checkVisibility({ visibilityProperty: true });
  const takeFocus = () => [next, show, back].find(isUsable)?.focus({ preventScroll: true });
  const drawDot = (nth, here) => {
    const props = { class: nth < here ? "done" : "", "aria-current": nth === here ? "step" : null };
    return h("li", props, h("span", { class: "sr-only" }, `moment ${nth}`));
  };
  return {
    element: box,
    takeFocus,
    update(prefersWalkthrough) {
      const { position, moment } = state,
        order = state.order(),
        nth = state.nth(),
        pressText = state.nextPress(),
        [isDone, isFirst] = [pressText === "", state.isFirst()],
        isEnd = state.next(1) === null && !state.leadsToEnd(),
        isLast = isDone && nth === order.length && state.next(1) !== null,
        focused = box.getRootNode().activeElement;
      box.classList.remove("to-come");
      box.classList.toggle("prefers-walkthrough", isFirst && prefersWalkthrough);
      first.hidden = !isFirst;
      ways.hidden = isFirst;
      out.hidden = (isFirst && !position.present) || !moment;
      back.disabled = state.next(-1) === null && !state.pressed(-1);
      next.disabled = isEnd && isDone;
      next.classList.toggle("check", isDone ? !isEnd : pressText !== "Show");
      write(next, isLast ? "Next lesson" : isDone || pressText === "Show" ? "Next" : pressText);
      walkthrough.update(() => "");
      if (moment) explore.update(actions.exploreAddress);
      explore.element.hidden = isSlide(moment);
      leaving.hidden = !position.present;
      teach.update();
      const here = nth || order.filter(number => number < position.moment).length + 0.5; // an optional one has no dot
      dots.replaceChildren(...order.map((_, place) => drawDot(place + 1, here)));
      write(count, nth ? `${nth} of ${order.length}` : OPTIONAL);
      const begins = position.present && !wasPresented; // by the menu: its button, focused, would stay in the room's sight
      wasPresented = position.present;
      if (box.contains(focused) && (!isUsable(focused) || (begins && out.contains(focused)))) takeFocus();
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

// The menu for lecturers. edit, collect and showSpeaker need a talk, openClass a class; `takeaway` is of makeTakeaway.
function makeTeachMenu(state, actions, takeaway) {
  const opener = button("Teach"),
    panel = makeMenu(opener, "teach", "Teach");
  const item = (text, act) => button(text, closingPopover(panel, act));
  const presenting = item("Present", actions.present),
    speaking = item("Speaker’s window", actions.showSpeaker),
    collecting = item("Add this moment to my talk", actions.collect),
    editing = item("", actions.edit),
    inClass = item("Open a class: phones follow you", actions.openClass),
    text = h("p"),
    notes = h("section", { class: "notes" }, h("strong", {}, "Notes"), text);
  panel.append(presenting, speaking, inClass, collecting, editing, ...takeaway, notes);
  return {
    button: opener,
    panel,
    update() {
      const { position, moment } = state,
        { isTalk } = state.entry();
      presenting.hidden = position.present;
      speaking.hidden = !(isTalk || state.lessons.length === 1) || "speaker" in position; // a page of one lesson may be a talk
      collecting.hidden = !actions.collect || isTalk || position.present;
      editing.hidden = !actions.edit || position.present;
      write(editing, actions.talkLabel?.() ?? "");
      inClass.hidden = !actions.openClass || actions.isClass(); // then the class bar has everything
      const shown = position.present || actions.isClass() ? "" : (moment?.notes ?? ""); // the room sees this page
      notes.hidden = !shown;
      write(text, shown);
    },
  };
}

// actions: those of makeFoot and makeContents. Returns {topElements, foot, around, over, drawContents(), update(), print(), end()}; `around` holds
// All lessons or the end page.
export function makeMenus({ box, about }, state, { host, course, memory, moments }, actions) {
  let handout = /** @type {any} */ (null);
  const print = async (hasAnswers = true) => {
    const [{ makeHandout }, ...all] = await Promise.all([
      host.loadScript("lessonPictures"),
      ...state.positions().map(moments.get),
    ]);
    handout ??= makeHandout(window, box);
    handout.print(state.entry().name, all, hasAnswers);
  };
  const questions = form => {
    const { lesson } = state.position;
    return lesson === ID ? host.talk.questions(form) : host.questions(lesson, form);
  };
  const takeaway = makeTakeaway({ title: () => state.entry().name, questions, print }),
    foot = makeFoot(state, actions, takeaway),
    contents = makeContents(state, memory, actions),
    drawEndPage = makeEndPage(state, memory, course.ownSentence, actions),
    around = h("div", { class: "around-moments" }),
    endTitle = h("h2"),
    over = h("section", { class: "talk-end", "aria-label": "The end", hidden: true }, endTitle, h("p", {}, "The end"));
  // As pages they are light, and alone on paper (frame.css).
  const stopPrinting = onPrint(
    window,
    PAPER,
    () => around.classList.toggle("pages", Boolean(state.around)),
    () => around.classList.remove("pages"),
  );
  return {
    topElements: [contents.button, contents.panel],
    foot,
    around,
    over,
    drawContents: contents.update,
    update() {
      box.classList.toggle("around", Boolean(state.around));
      write(about, state.around ? "" : lessonHeading(state.entry(), state.lessons));
      contents.update();
      redraw(around, state.isAtEnd() ? drawEndPage() : state.around ? [contents.page] : []);
      over.hidden = !state.isOver;
      write(endTitle, state.isOver ? state.entry().name : "");
      foot.update(memory.opensWalkthrough);
    },
    print,
    end() {
      handout?.end();
      stopPrinting();
    },
  };
}
