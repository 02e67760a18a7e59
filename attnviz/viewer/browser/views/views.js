// The views of the viewer, redrawn on each change, and the announcements to screen readers.
import { digits, percent } from "../model/numeral.js";
import { countedPosition } from "../model/route.js";
import { focusOf, stepAt } from "../model/state.js";
import { writtenIn } from "../model/words.js";
import { h, write } from "../dom/element.js";
import { makePicture } from "./picture.js";
import { bothValuesText } from "./numberLists.js";
import { makeBrush } from "./tools.js";
import { makeAllHeads } from "./allHeads.js";
import { makeOneWord } from "./oneWord.js";
import { makeHeads, makeMap, makeStepButtons } from "./map.js";
import { makeWholePass } from "./wholepass.js";
import { makeGlossary } from "./glossary.js";
import { makeLearns } from "./learns.js";
import { answersOf } from "./modelAnswer.js";
import { makeNextLetter } from "./nextLetter.js";
import { makePairing, pairingText } from "./pairing.js";
import { makeOffer, makeStepText } from "./stepText.js";
import { makeThread } from "./thread.js";
import { makePanel } from "./panel.js";

function makeStatus({ onPoint }) {
  const text = h("span"), // hidden where its line has space for a word alone
    line = h("p", { class: "status" }, text);
  let look, pointed;
  const show = () => write(text, pointed && look ? described(look, pointed) : "");
  onPoint((name, index) => {
    pointed = index && { name, index };
    show();
  });
  const update = (_pass, _where, shown) => {
    look = shown;
    show();
  };
  return { element: line, update };
}

/** @param {Look} look @param {Cell} cell */
function described({ pass, nameOf, shown }, { name, index }) {
  if (!shown(name, index)) return nameOf(name, index);
  const value = pass.number(name, index),
    flag = value ? "visible" : "hidden",
    number =
      value === undefined
        ? "on its way"
        : pass.stages.get(name).scale === "flag"
          ? flag
          : String(value).replace("-Infinity", "−inf: a hidden key");
  return `${nameOf(name, index)} = ${number}`;
}

/** Announces what changed to screen readers. While isPlaying() it is silent; at the end it announces the result. @returns {View} */
function makeAnnouncer(isPlaying) {
  const line = h("p", { class: "sr-only", role: "status" });
  let known;
  return {
    element: line,
    update(pass, where, look) {
      if (isPlaying()) return;
      const now = {
        pairing: pairingText(pass),
        step: stepText(pass, where),
        written: writtenText(pass),
        names: pass.document.next?.names?.text ?? "",
        number: numberText(pass, where, look),
        answer: answerText(pass),
      };
      const isOther = what => known && now[what] !== known[what],
        changed = isOther("written") ? ["written"] : Object.keys(now).filter(isOther), // a letter moves every number
        news = changed.map(what => now[what] || (what === "pairing" ? "A is no longer pinned." : "")).filter(Boolean);
      known = now;
      if (news.length) line.textContent = news.join(" ");
    },
  };
}

/** The step, counted as the map does. @param {Pass} pass @param {Where} where */
function stepText(pass, where) {
  const counted = countedPosition(pass, where),
    { title } = stepAt(pass, where);
  return `${counted.charAt(0).toUpperCase()}${counted.slice(1)}: ${title}.`;
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function numberText(pass, where, look) {
  const { name, index } = focusOf(pass, where),
    value = pass.number(name, index);
  if (value === undefined || !look.shown(name, index)) return "";
  const bothValues = bothValuesText(pass, where, look, { name, index }),
    story = pass.story(name, index, where.cell).map(({ text }) => text);
  return `${pass.nameOf(name, index)}${bothValues ? `: ${bothValues}` : ` = ${digits(value)}.`} ${story.join("")}`;
}

function answerText(pass) {
  const answers = answersOf(pass).map(({ label, share, verdict }) => `${label}, ${percent(share)}, ${verdict}`);
  return answers.length ? `The answer: ${answers.join("; ")}.` : "";
}

/** The text that a model has written, and the next letter. @param {Pass} pass */
function writtenText(pass) {
  const { next, model } = pass.document;
  if (!next || !model) return "";
  const [tokens, { labels }] = pass.stages.get(model.answers).axes,
    probability = Number(pass.number(model.answers, [tokens.labels.length - 1, next.answer]));
  const ending = next.isFull ? "The context is full." : `Next: “${labels[next.answer]}”, ${percent(probability)}.`;
  return `Written: “${writtenIn(pass.document)}”. ${next.ends ? "It ends here." : ending}`;
}

// `endNotice`, `toolbar`, `code`, `classBar` and `printDialog` stand among the views; `isNew` is whether to show the welcome.
export function makeViews(
  root,
  tools,
  { endNotice, toolbar, code, classBar, printDialog, follow, enter, isPlaying, isNew },
) {
  const map = makeMap(tools),
    stepButtons = makeStepButtons(map.element, tools, by => follow(by > 0 ? "on" : "back")),
    nextLetter = makeNextLetter(tools),
    offer = makeOffer(tools),
    pairing = makePairing(tools),
    thread = makeThread(tools),
    stepText = makeStepText(enter, isNew),
    brush = makeBrush(tools),
    picture = makePicture(tools, brush),
    wholePass = makeWholePass(tools),
    sheet = makeOneWord(tools),
    allHeads = makeAllHeads(tools),
    learns = makeLearns(tools, thread),
    status = makeStatus(tools),
    heads = makeHeads(tools),
    panel = makePanel(tools),
    glossary = makeGlossary(root),
    announcer = makeAnnouncer(() => isPlaying() || [learns, nextLetter, thread].some(each => each.isRunning));
  panel.element.prepend(heads.element);
  const foot = boxOf("foot", [toolbar, status]),
    inMain = [pairing, thread, stepText, nextLetter, offer, learns, brush, sheet, allHeads, picture, wholePass, foot],
    columns = boxOf("columns", [boxOf("main", inMain), panel]),
    onPage = [stepButtons, columns, announcer, endNotice, glossary, code, printDialog];
  root.replaceChildren(
    ...(classBar ? [classBar.element] : []),
    ...onPage.map(each => each.element),
    ...(classBar ? [classBar.dialogs] : []),
  );
  const overMain = [stepButtons, map],
    small = [learns, offer, pairing, nextLetter, thread, stepText, heads, panel, toolbar, brush],
    large = [sheet, allHeads, picture, wholePass], // which get the space that is left
    connected = [map, heads, thread, learns], // which measure the page, once everything is written
    rest = [status, announcer, code, glossary];
  return {
    update(pass, where, look) {
      // What is hidden makes space for what is shown.
      const ordered = [...large].sort((one, other) => Number(one.element.hidden) - Number(other.element.hidden));
      for (const view of [...overMain, ...small, ...ordered, ...rest]) view.update(pass, where, look);
      thread.element.hidden = learns.isLarge; // which has the words
      for (const view of connected) if (!view.element.hidden) view.connect();
    },
    isNew: () => stepText.isNew,
    end() {
      for (const view of [learns, nextLetter, thread, glossary]) view.end();
    },
  };
}

const boxOf = (name, views) => ({ element: h("div", { class: name }, ...views.map(each => each.element)) });
