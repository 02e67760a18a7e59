// Lessons: a list of moments, each with a text, a picture, and perhaps a question that is asked before the answer is shown.
import { button } from "../elements/button.js";
import { element, redraw, write } from "../elements/element.js";
import { readPass } from "../pass/pass.js";
import { makePresenting } from "../scene/present.js";
import { makeQrCode } from "../viewer/qrCode.js";
import { makeGlossary } from "../words/glossary.js";
import { makeContents } from "./contents.js";
import { minutesText, placeBeside, placeIn, searchOf } from "./course.js";
import { fitText } from "./fitText.js";
import { ID } from "./talkList.js";
import { makeSpeakerPanel } from "./speakerPanel.js";
import { makeTogether } from "./together.js";
import { makeFoot } from "./foot.js";
import { makeHandout } from "./handout.js";
import { makeMemory } from "./memory.js";
import { makeMistakePicture } from "./mistakePicture.js";
import { makeMoments } from "./moments.js";
import { makePassPicture } from "./passPicture.js";
import { makeSweepPicture } from "./sweepPicture.js";
import { candidateAt, makeQuestion } from "./question.js";
import { drawSaid } from "./said.js";
import { makeTakeaway } from "./takeaway.js";
import { verdictOn } from "./verdict.js";

/** @type {Map<string, typeof makePassPicture>} */
const PICTURES = new Map([
  ["pass", makePassPicture],
  ["mistake", makeMistakePicture],
  ["sweep", makeSweepPicture],
]); // by the kind of a moment's picture
const ENTER = ["Enter", " "];
const CONTROL = "a, button, input, select, textarea, summary, dfn, [role=grid], [role=listbox]";
const NO_HARM = "No wrong click: you see at once what it does, and every number behind it.";

const states = new Map(); // what was answered and shown, as long as the page is open

export function forgetShown() {
  states.clear();
}

// `given` is LessonsPage of generated/contract.d.ts. host: {address, fetched(place), has(place), hrefTo(place), open(address),
// hrefOf(address), questions(lesson, form), store(), isLinked}: the page's address, what gives a moment, whether a place is on this
// page, the link to one, what opens a scene in the walkthrough and says whether it can, its link, a promise of the questions of a
// lesson as a file, where the browser keeps things, and whether somebody else can open the page's address; desk(lead, changed, isPresented), where a class can be opened, makes what its speaker has; host.own, where
// there is one, is a talk of one's own (talkDesk.js): resumed() is where one comes back to in it, leave(place, next) and left() are
// called where one goes elsewhere in mid-talk, and where it is left. Returns {end(), go(place)}.
export function mountLessons(root, given, host) {
  const { lessons } = given,
    memory = makeMemory(host.store),
    { own: mine = null } = host,
    own = () => mine?.entry() ?? null,
    course = () => (own() ? [...lessons, own()] : lessons),
    nameOf = at => (at.lesson === ID ? JSON.stringify(mine.momentAt(at)) : `${at.lesson} ${at.moment}`),
    moments = makeMoments(at => (at.lesson === ID ? mine.fetched(at) : host.fetched(at)), nameOf);
  let place = null,
    moment = null,
    question = null,
    picture = null,
    kind = "",
    pass = null,
    failure = "",
    typed = 0; // the number of a moment that Enter leads to

  const box = element("div", "viewer lesson-page"),
    head = element("header", "lesson-head"),
    about = element("span", "about"),
    body = element("div", "lesson-body"),
    said = element("section", "lesson-said"),
    drawn = element("div", "lesson-picture"),
    heard = element("p", "heard"),
    ownWords = element("textarea", "own-words"), // kept nowhere
    verdict = element("div", "verdict");
  const desk =
    host.desk?.(
      lead,
      () => moment && draw(),
      () => place?.present,
    ) ?? null;
  const foot = makeFoot({
      press,
      back,
      open,
      hrefOf: host.hrefOf,
      present: () => follow("present"),
      edit,
      showSpeaker,
      openClass: desk?.open,
    }),
    handout = makeHandout(window, box, ({ picture: own }) => PICTURES.get(own?.kind ?? "pass")(() => false)),
    takeaway = makeTakeaway({
      title: () => entry().name,
      questions: form => (place.lesson === ID ? mine.questions(form) : host.questions(place.lesson, form)),
      print: async () => handout.print(entry().name, await allMoments()),
    }),
    contents = makeContents({
      go,
      forget,
      hrefTo: host.hrefTo,
      edit: mine && edit,
      startFrom: mine && (() => mine.startFrom(place.lesson)),
    }),
    code = makeQrCode(window, host.isLinked),
    glossary = makeGlossary(box, ".lesson-said p");
  said.setAttribute("aria-label", "The moment");
  ownWords.setAttribute("aria-label", "In your own words");
  ownWords.placeholder = "In your own words. Kept nowhere.";
  ownWords.rows = 4;
  for (const each of [heard, verdict]) each.setAttribute("role", "status");
  head.append(about, contents.button, contents.panel, takeaway.button, takeaway.panel);
  body.append(said, drawn);
  box.append(head, body, foot.element, heard, code.element, glossary.element);
  if (desk) {
    box.prepend(desk.element);
    desk.standIn(body);
    box.append(desk.dialogs);
  }
  root.replaceChildren(box);
  root.ariaBusy = "false";

  const entry = () => course().find(({ id }) => id === place.lesson);
  const beside = by => placeBeside(course(), place, by);
  const allMoments = () =>
    Promise.all(Array.from({ length: entry().nMoments }, (_, nth) => moments.get({ ...place, moment: nth + 1 })));
  const state = () => {
    const name = nameOf(place);
    if (!states.has(name)) states.set(name, { answer: null, isShown: false });
    return states.get(name);
  };
  const hasMore = () => Boolean(moment.question || moment.after.length || moment.ending);
  const isDone = () => Boolean(moment) && (state().isShown || !hasMore());
  const areWordsAlone = () => Boolean(moment?.saysWordsAlone) && !state().isShown;
  const numbers = { point: link => picture?.point(link), open: link => picture?.open(link) };

  function follow(command) {
    const number = command.startsWith("band") ? Number(command.slice(5)) : 0;
    typed = number <= entry().nMoments ? number : 0;
    if (command.startsWith("band")) return typed > 0;
    if (command === "first" || command === "last")
      return go({ ...place, moment: command === "first" ? 1 : entry().nMoments });
    if (command === "on") return press();
    if (command === "back") return back();
    if (command === "present") return go({ ...place, present: !place.present });
    if (command === "leave") return place.present && go({ ...place, present: false });
    return false;
  }
  // What a remote's button does: show the answer, then go on.
  function press() {
    if (!moment) return true;
    if (!isDone()) show(null);
    else {
      const next = beside(1);
      if (next) go(next);
    }
    return true;
  }
  function back() {
    const before = beside(-1);
    if (before) go(before);
    return true;
  }
  function show(answer) {
    if (state().isShown) return;
    states.set(nameOf(place), { answer, isShown: true });
    together.tell();
    if (answer !== null && place.lesson !== ID) memory.predicted(place, verdictOn(moment.question, answer).isRight);
    redrawSaid();
    said.querySelector(".verdict:not(:empty)")?.scrollIntoView({ block: "nearest" }); // a phone has no room for it all
  }
  // What had the keyboard among what is said goes, or can't be used any more.
  function redrawSaid() {
    const isHeld = said.contains(said.getRootNode().activeElement);
    draw();
    if (isHeld) foot.takeFocus();
  }
  // What is clicked in the picture may be an answer.
  function answered(clicked) {
    if (!moment.question || state().isShown) return false;
    const found = candidateAt(moment.question, clicked);
    if (found >= 0) show(found);
    return found >= 0;
  }
  // In mid-talk one comes back from there, to what comes next.
  function open(address) {
    if (address && place.present) host.leave?.(place, beside(1));
    if (!address) memory.opensWalkthrough = true;
    return host.open(address);
  }
  // Where another device of the speaker's has led the class.
  function lead(at, isShown) {
    const to = placeIn(lessons, `?${at}`);
    if (!to || !place) return false;
    states.set(nameOf(to), { answer: states.get(nameOf(to))?.answer ?? null, isShown });
    if (nameOf(to) !== nameOf(place)) go({ ...place, ...to, present: place.present });
    else if (moment) redrawSaid();
    return true;
  }
  function forget() {
    memory.forget();
    forgetShown();
    redrawSaid();
  }
  function edit() {
    mine.open();
  }
  function showSpeaker() {
    const isOpen = together.open(name => searchOf({ ...place, present: true, speaker: name }));
    if (!isOpen) write(heard, "The browser didn’t open another window: allow it for this page.");
  }
  // Where the other window of a talk has gone.
  function goWith({ isShown, ...at }) {
    const to = { ...place, ...at };
    if (nameOf(to) !== nameOf(place)) {
      if (isShown) states.set(nameOf(to), { answer: null, isShown });
      arrive(to);
      host.address.write(searchOf(to), false);
    } else if (isShown && !state().isShown) {
      states.set(nameOf(place), { answer: null, isShown });
      redrawSaid();
    }
  }
  function go(to) {
    if (!host.has(to)) {
      window.location.assign(host.hrefTo(to));
      return true;
    }
    const isLeft = place?.present && !to.present;
    const isOtherLesson = place !== null && to.lesson !== place.lesson;
    arrive(to);
    host.address.write(searchOf(to), isOtherLesson);
    memory.at(to);
    together.tell();
    if (isLeft) host.left?.();
    return true;
  }
  async function arrive(to) {
    const isSame = place && to.lesson === place.lesson && to.moment === place.moment;
    place = to;
    presenting.show(place.present);
    box.classList.toggle("presenting", place.present);
    if (isSame && moment) return draw();
    failure = "";
    const timer = setTimeout(() => box.classList.add("late"), 300);
    try {
      const found = await moments.get(to);
      if (place !== to && (place.lesson !== to.lesson || place.moment !== to.moment)) return; // one has gone on meanwhile
      moment = found;
      question = moment.question && makeQuestion(moment.question, show);
      const next = beside(1);
      if (next && host.has(next)) moments.ahead(next);
    } catch (error) {
      if (place !== to) return;
      moment = null;
      failure = error instanceof Error ? error.message : String(error);
    } finally {
      clearTimeout(timer);
      box.classList.remove("late");
    }
    draw();
    write(
      heard,
      `${entry().name}, moment ${place.moment} of ${entry().nMoments}${moment?.title ? `: ${moment.title}` : ""}`,
    );
  }

  function draw() {
    if (!box.isConnected) return;
    const here = entry(),
      isFirst = areWordsAlone() && here === lessons[0];
    write(about, aboutOf(here, lessons));
    contents.button.hidden = course().length === 1;
    contents.update(lessons, place, memory, own());
    takeaway.button.hidden = isFirst; // a first visit is a question, and little else
    box.classList.toggle("words-alone", areWordsAlone());
    foot.update({
      place,
      entry: here,
      moment,
      isDone: isDone(),
      isFirst,
      isStart: beside(-1) === null,
      isEnd: beside(1) === null,
      ownSentence: given.own,
      prefersWalkthrough: memory.opensWalkthrough,
      isClass: desk?.isOpen,
    });
    if (!moment) {
      said.replaceChildren(
        element("p", "", `This moment didn’t come: ${failure}`),
        button("Try again", () => arrive({ ...place })),
      );
      drawn.replaceChildren();
      return;
    }
    question?.element.remove();
    verdict.replaceChildren(...drawVerdict());
    said.classList.toggle("answered", state().isShown);
    redraw(said, drawMoment());
    question?.update(state());
    box.classList.toggle("says-nothing", !said.textContent.trim());
    drawPicture();
    fitText(said, place.present);
    explainTerms();
    speaker?.update({ moment, next: beside(1) && moments.get(beside(1)), planned: plannedOf(mine, place) });
    tellClass();
  }
  function tellClass() {
    const isOwn = place.lesson === ID,
      { question: asked } = moment,
      title = asked ? asked.prompt.map(([, text]) => text.text ?? text).join("") : "";
    desk?.shows({
      at: isOwn ? moment.at : searchOf({ ...place, present: false }).slice(1),
      moment: isOwn ? mine.momentAt(place) : null,
      isShown: isDone(),
      question: asked,
      title,
      picture: drawn,
      pass,
    });
  }
  // Terms have no number as long as that may be the answer.
  function explainTerms() {
    if (pass?.document !== moment.document) pass = readPass(moment.document);
    const { cell } = moment.document.where;
    glossary.update(pass, { cell, present: place.present || areWordsAlone() }, { tellsNumbers: isDone() });
  }
  function drawMoment() {
    const { isShown } = state(),
      { title, text, after, ending } = moment;
    return [
      ...(title ? [element("h2", "", title)] : []),
      areWordsAlone()
        ? drawSaid([...text, ["", " "], ...promptOf(moment)], numbers)
        : drawSaid(text, numbers, "p", "text"),
      ...(areWordsAlone() && !areWordsAsked(moment) ? [drawWords(moment)] : []),
      ...(moment.question
        ? [...(areWordsAlone() ? [] : [drawSaid(moment.question.prompt, numbers, "p", "prompt")]), question.element]
        : []),
      ...(areWordsAlone() ? [element("p", "note", NO_HARM)] : []),
      verdict,
      ...(isShown && after.length && !moment.question ? [drawSaid(after, numbers)] : []),
      ...(ending ? drawEnding(ending, isShown) : []),
    ];
  }
  function promptOf({ question: asked }) {
    return asked ? asked.prompt.map(([style, text]) => (style === "number" ? [style, text] : ["strong", text])) : [];
  }
  function drawVerdict() {
    const { answer, isShown } = state();
    if (!isShown || !moment.question) return [];
    const { isRight, said: paragraphs } = verdictOn(moment.question, answer, moment.after);
    verdict.className = `verdict ${isRight === null ? "" : isRight ? "right" : "wrong"}`;
    return paragraphs.map(runs => drawSaid(runs, numbers));
  }
  function drawEnding({ explain, answer }, isShown) {
    const { right, asked } = memory.scoreOf(place.lesson);
    return [
      drawSaid(explain, numbers, "p", "prompt"),
      ...(place.present ? [] : [ownWords]),
      ...(isShown
        ? [drawSaid(answer, numbers, "div", "verdict shown")]
        : [button("Compare with an answer", () => show(null), "check beside-own")]),
      ...(asked
        ? [
            element("p", "score", `You predicted ${right} of ${asked} in this lesson.`),
            button("Forget my answers", forget, "link"),
          ]
        : []),
    ];
  }
  function drawPicture() {
    if (areWordsAlone()) return drawn.replaceChildren();
    const wanted = moment.picture?.kind ?? "pass";
    if (wanted !== kind) {
      picture?.leave();
      picture = PICTURES.get(wanted)(answered);
      kind = wanted;
    }
    if (picture.element.parentNode !== drawn) drawn.replaceChildren(picture.element);
    picture.show(moment, !state().isShown, place.present);
    bring(drawn.querySelector(".hand th.chosen"));
  }
  // On a phone a tall picture scrolls by itself.
  function bring(row) {
    if (row)
      drawn.scrollTop += row.getBoundingClientRect().top - drawn.getBoundingClientRect().top - drawn.clientHeight / 2;
  }

  const onKey = event => {
    const held = event.composedPath().find(each => each.closest);
    if (!ENTER.includes(event.key) || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (typed && event.key === "Enter") {
      event.preventDefault();
      go({ ...place, moment: typed });
      typed = 0;
      return;
    }
    if (held?.closest(CONTROL)) return;
    event.preventDefault();
    press();
  };
  document.addEventListener("keydown", onKey);
  const presenting = makePresenting(document, box, follow, code);
  const observer = new ResizeObserver(() => fitText(said, place.present));
  observer.observe(body);
  const first = { lesson: lessons[0].id, moment: 1, present: false };
  const read = search => (search ? placeIn(course(), search) : null);
  const stopListening = host.address.onArrival(() => arrive(read(host.address.read()) ?? first));
  const resumed = read(host.resumed?.()),
    asked = resumed ?? read(host.address.read()),
    left = memory.last && read(searchOf(memory.last));
  if (resumed || (!asked && left)) host.address.write(searchOf(resumed ?? left), false);
  const together = makeTogether(window, asked?.speaker ?? "", {
      now: () => ({ lesson: place.lesson, moment: place.moment, isShown: state().isShown }),
      follow: goWith,
    }),
    speaker = asked?.speaker ? makeSpeakerPanel() : null;
  if (speaker) body.append(speaker.element);
  box.classList.toggle("of-speaker", speaker !== null);
  const stopFollowing = mine?.onChange(() => {
    if (place.lesson !== ID) return contents.update(lessons, place, memory, own());
    moment = null; // it may be another one
    arrive(own() ? { ...place, moment: Math.min(place.moment, own().nMoments) } : first);
  });
  arrive(asked ?? left ?? first);
  return {
    go,
    end: () => {
      document.removeEventListener("keydown", onKey);
      stopFollowing?.();
      together.end();
      speaker?.end();
      observer.disconnect();
      handout.end();
      presenting.end();
      glossary.end();
      desk?.end();
      picture?.leave();
      stopListening();
    },
  };
}

function aboutOf(entry, lessons) {
  const minutes = entry.minutes ? ` · ${minutesText(entry.minutes)}` : "";
  const place = `Lesson ${lessons.indexOf(entry) + 1} of ${lessons.length} · `;
  return `${entry.isOwn || lessons.length === 1 ? "" : place}${entry.name}${minutes}`;
}

// The moments of one's own talk up to where one is, and all of them; of a lesson none, as it plans no minutes for each.
function plannedOf(own, { lesson, moment }) {
  const all = lesson === ID ? own.talk().moment : [];
  return { sofar: all.slice(0, moment), all };
}

// Whether one answers by a word: then the words of the sentence are the answers.
function areWordsAsked({ question }) {
  return question?.candidates?.some(({ word }) => word !== undefined) ?? false;
}

function drawWords({ document: { words } }) {
  const line = element("p", "sentence-alone");
  line.append(...words.query.flatMap((word, place) => [...(place ? [" "] : []), element("span", "", word)]));
  return line;
}
