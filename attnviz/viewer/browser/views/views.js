// The views of the viewer, redrawn on each change, and what is announced to screen readers.
import { digits, percent } from "../model/numeral.js";
import { countedPlace } from "../model/route.js";
import { focusOf, stepAt } from "../model/state.js";
import { element, h, write } from "../dom/element.js";
import { makePicture } from "./picture.js";
import { bothValuesText } from "./readout.js";
import { makeBrush } from "./tools.js";
import { makeSheet } from "./sheet.js";
import { makeHeads, makeMap, makeStepButtons } from "./map.js";
import { makeWholePass } from "./wholepass.js";
import { makeGlossary } from "./glossary.js";
import { answersOf } from "./modelAnswer.js";
import { makeNextLetter } from "./nextLetter.js";
import { makePairing, pairingText } from "./pairing.js";
import { makeOffer, makeStepText } from "./stepText.js";
import { makeThread } from "./thread.js";
import { makePanel } from "./panel.js";
import { makeTraining } from "./training.js";

function makeStatus({ onPoint }) {
  const line = element("p", "status"),
    text = element("span"); // not there where its line has room for a word alone
  line.append(text);
  let shown = null,
    pointed = null;
  const show = () => {
    write(text, pointed && shown ? described(shown, pointed) : "");
  };
  onPoint((name, index) => {
    pointed = index && { name, index };
    show();
  });
  const update = (_pass, _where, look) => {
    shown = look;
    show();
  };
  return { element: line, update };
}

function described({ pass, nameOf, shown }, { name, index }) {
  if (!shown(name, index)) return nameOf(name, index);
  const value = pass.number(name, index);
  const number =
    value === undefined
      ? "on its way"
      : pass.stages.get(name).scale === "flag"
        ? value
          ? "visible"
          : "hidden"
        : String(value).replace("-Infinity", "−inf: a hidden key");
  return `${nameOf(name, index)} = ${number}`;
}

// While isPlaying() it keeps still, and says in the end what has become of it.
/** @returns {View} */
function makeAnnouncer(isPlaying) {
  const line = element("p", "heard");
  line.setAttribute("role", "status");
  let known = null;
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
      const isOther = what => known !== null && now[what] !== known[what];
      const changed = isOther("written") ? ["written"] : Object.keys(now).filter(isOther); // a letter moves every number
      const news = changed.map(what => now[what] || (what === "pairing" ? "A is let go." : "")).filter(Boolean);
      known = now;
      if (news.length) line.textContent = news.join(" ");
    },
  };
}

// Counted as one sees it (map/map.js).
/** @param {Pass} pass @param {Where} where */
function stepText(pass, where) {
  const counted = countedPlace(pass, where),
    { title } = stepAt(pass, where);
  return counted ? `${counted.charAt(0).toUpperCase()}${counted.slice(1)}: ${title}.` : `${title}.`;
}

/** @param {Pass} pass @param {Where} where @param {Look} look */
function numberText(pass, where, look) {
  const { name, index } = focusOf(pass, where),
    value = pass.number(name, index);
  if (value === undefined || !look.shown(name, index)) return "";
  const bothValues = bothValuesText(pass, where, look, { name, index });
  return `${pass.nameOf(name, index)}${bothValues ? `: ${bothValues}` : ` = ${digits(value)}.`} ${pass
    .story(name, index, where.cell)
    .map(({ text }) => text)
    .join("")}`;
}

function answerText(pass) {
  const answers = answersOf(pass).map(({ label, share, verdict }) => `${label}, ${percent(share)}, ${verdict}`);
  return answers.length ? `The answer: ${answers.join("; ")}.` : "";
}

// The text that a model has written, and the next letter.
/** @param {Pass} pass */
function writtenText(pass) {
  const { next, model, link } = pass.document;
  if (!next) return "";
  const {
      axes: [tokens, { labels }],
    } = pass.stages.get(model.answers),
    share = pass.number(model.answers, [tokens.labels.length - 1, next.answer]);
  return `Written: “${link.sentence ?? ""}”. ${next.ends ? "It ends here." : next.isFull ? "The context is full." : `Next: “${labels[next.answer]}”, ${percent(share)}.`}`;
}

// `edge`, `toolbar`, `code`, `desk` and `printDialog` stand among them; follow(command) and enter(offer) do what is asked for, isPlaying()
// says whether steps are played, `isNew` whether somebody is welcomed. Returns {update(pass, where, look), isNew(), end()}.
export function makeViews(root, tools, { edge, toolbar, code, desk, printDialog, follow, enter, isPlaying, isNew }) {
  const map = makeMap(tools),
    way = makeStepButtons(map.element, tools, by => follow(by > 0 ? "on" : "back"));
  const nextLetter = makeNextLetter(tools),
    offer = makeOffer(tools),
    pairing = makePairing(tools),
    thread = makeThread(tools),
    stepText = makeStepText(enter, isNew),
    brush = makeBrush(tools),
    picture = makePicture(tools, brush),
    wholePass = makeWholePass(tools);
  const sheet = makeSheet(tools),
    training = makeTraining(tools),
    status = makeStatus(tools),
    heads = makeHeads(tools),
    panel = makePanel(tools);
  const glossary = makeGlossary(root),
    announcer = makeAnnouncer(() => isPlaying() || training.isRunning || nextLetter.isRunning);

  panel.element.prepend(heads.element);
  const foot = boxOf("foot", [toolbar, status]),
    main = boxOf("main", [pairing, thread, stepText, nextLetter, offer, brush, sheet, picture, wholePass]);
  main.append(foot);
  const columns = boxOf("columns", [{ element: main }, panel]);
  root.replaceChildren(
    ...(desk ? [desk.element] : []),
    ...[way, training, { element: columns }, announcer, edge, glossary, code, printDialog].map(each => each.element),
    ...(desk ? [desk.dialogs] : []),
  );

  const narrow = [way, map, training, offer, pairing, nextLetter, thread, stepText, heads, panel, toolbar, brush],
    large = [sheet, picture, wholePass], // which get the room that is left
    connected = [map, heads, thread]; // which ask where things stand, once all are written
  const rest = [status, announcer, code, glossary];
  return {
    update(pass, where, look) {
      // What goes makes room for what comes.
      const ordered = [...large].sort((one, other) => Number(one.element.hidden) - Number(other.element.hidden));
      for (const view of [...narrow, ...ordered, ...rest]) view.update(pass, where, look);
      for (const view of connected) view.connect();
    },
    isNew: () => stepText.isNew,
    end() {
      for (const view of [training, nextLetter, glossary]) view.end();
    },
  };
}

function boxOf(className, views) {
  return h("div", { class: className }, ...views.map(each => each.element));
}
