// It learns: what the word that is answered takes from the others, at every checkpoint of its model's training, with the answer. It is
// played and dragged without the server; once it rests at a checkpoint, the rest of the page follows.
import { grouped, percent } from "../model/numeral.js";
import { isFirst } from "../model/state.js";
import { NO_SENTENCE, columnsOf, hasTwoRows, textsAt, textsOf, verdictOf } from "../model/twoTexts.js";
import { button, h, makePopover, memoLast, redraw, write } from "../dom/element.js";
import { MOTION_MS, between, isCalm, makeMotion } from "../dom/motion.js";
import { makeAttentionBand } from "./attentionBand.js";
import { afterText, makeMeasures, measuredAt } from "./measures.js";
import { makeTrainingCourse } from "./trainingCourse.js";

const REST_MS = 60,
  LOOK_MS = 560, // how long Play rests at a checkpoint, and at one worth a look
  READ_MS = 1500; // and where another translation is to be read
const DRAG_MS = 60; // in which it follows the pointer
const COLUMN_BELOW = 600; // pixels: there the words stand in a column
const LUCK = 1.5; // a right answer is luck below so many times the probability of a blind guess

const MARKS = {
  right: ["✓", "Right"],
  wrong: ["✗", "Wrong"],
  unknown: ["?", "No answer is right: the model was not made for this text"],
};

/** What is drawn at a checkpoint of one head. @param {import("../../generated/contract").Learning} learning @returns {{place: number, weights: number[], share: number}} */
export const momentOf = ({ rows, shares }, head, place) => ({
  place,
  weights: rows[place][head],
  share: shares[place],
});

/** The checkpoints at which Play stops for a look: where the weight of the word that has most begins to fall, and where another has most. */
export function looksOf(rows, head) {
  const most = rows.map(row => Math.max(...row[head])),
    words = rows.map((row, place) => row[head].indexOf(most[place])),
    looks = new Set();
  let seen = -1;
  for (const [place, weight] of most.entries()) {
    if (weight < 0.5 || words[place] === seen || (seen < 0 && most[place + 1] >= weight)) continue;
    looks.add(place);
    seen = words[place];
  }
  return looks;
}

/** The checkpoints that write another translation than the one before. @param {import("../../generated/contract").Translation[]} translations */
export const turnsOf = translations =>
  new Set(
    [...translations.keys()].filter(n => n > 0 && String(translations[n].words) !== String(translations[n - 1].words)),
  );

/** What is read at a checkpoint: the answer, its probability and the right answer's, and the word that most is taken from.
 * @param {import("../../generated/contract").Learning} learning @param {string[]} words */
export function readAt({ asking, rows, answers, shares, right, rightShares }, head, place, words) {
  const weights = rows[place][head];
  return {
    asking: words[asking],
    answer: answers[place],
    share: shares[place],
    right,
    rightShare: rightShares[place],
    most: words[weights.indexOf(Math.max(...weights))],
  };
}

/** What is said of it. */
export function saidOf({ asking, answer, share, right, rightShare, most }, when, { isOpen, nAnswers, nLayers }) {
  const sure = `${when}: ${percent(share)} sure.`;
  if (isOpen) return sure; // its bars say the rest
  if (right !== null && right !== answer) return `${sure} Right would be “${right}” (${percent(rightShare)}).`;
  if (right !== null && share < LUCK / nAnswers) return `${sure} Right by luck: a guess among ${nAnswers}.`;
  return `${sure} “${asking}” takes most from “${most}”${nLayers > 1 ? ` in layer ${nLayers}` : ""}.`;
}

/** `thread` shows translations, where a model makes some. @returns {View & {isLarge: boolean, isRunning: boolean}} */
export function makeLearns(tools, thread) {
  const band = makeAttentionBand({
      pick: query => tools.go({ cell: { ...shown.where.cell, query }, trail: [] }),
      inspect: key => tools.inspect(attention(), shown.pass.indexAt(attention(), { ...shown.where.cell, key })),
    }),
    course = makeTrainingCourse({
      drag: to => {
        begin();
        isDragged = true;
        goTo(isCalm() ? Math.round(to) : to, { ms: DRAG_MS, isQuiet: true });
      },
      drop: () => {
        isDragged = false;
        goTo(Math.round(place), { after: settle });
      },
      by: n => {
        begin();
        goTo(Math.min(Math.max(Math.round(place) + n, 0), last()), { after: settle });
      },
    }),
    measures = makeMeasures(tools),
    play = button("", () => (isPlaying ? pause() : start()), "play"),
    about = button("About this model", null, "link"),
    flip = button("What would flip it?", () => tools.wantFlips(answers(), answerIndex(place)), "link flip"),
    panel = makePopover(about, "about-model", "About this model"),
    asked = h("p", { class: "of" }),
    answer = h("div", { class: "answer-of" }),
    bar = h("span"),
    said = h("p", { class: "digits" }),
    note = h("p", { class: "note", hidden: true }),
    label = h("p", { class: "after" }),
    verdict = h("p", { class: "verdict-of digits" });
  panel.append(measures.element);
  const box = h(
    "section",
    { class: "learns", "aria-label": "Training", hidden: true },
    band.element,
    h(
      "div",
      { class: "read" },
      asked,
      answer,
      h("div", { class: "sure" }, bar),
      said,
      note,
      h("p", { class: "acts" }, about, flip),
    ),
    label,
    verdict,
    course.element,
    play,
    panel,
  );
  let shown = /** @type {any} */ (null),
    training = /** @type {any} */ (null),
    isLarge = false,
    isFilm = false, // of translations, which the thread shows
    place = 0, // of the checkpoint that it is at, or moves to
    wanted = null, // the checkpoint that the server was asked for
    isPlaying = false,
    isDragged = false,
    timer = 0;
  const last = () => training.checkpoints.length - 1,
    head = () => shown.where.cell.head,
    attention = () => shown.pass.document.layers.at(-1).attention,
    answers = () => shown.pass.document.model.answers;
  // Only the word at which the model answers is known at every checkpoint.
  const isAtAnswer = () => shown.where.cell.query === training.learning.asking;
  const weightsNow = () => [...shown.pass.row(attention(), shown.pass.indexAt(attention(), shown.where.cell))];
  // A moment, at a place that may be between two checkpoints.
  const momentAt = to => {
    if (!isLarge) return { place: to };
    const [low, high] = [Math.floor(to), Math.ceil(to)].map(each => momentOf(training.learning, head(), each)),
      moment = between(low, high, to % 1),
      weights = isAtAnswer() ? moment.weights : weightsNow();
    return { place: to, weights, share: isAnswerHidden() ? 0 : isAtAnswer() ? moment.share : result(to).share };
  };
  // In a talk the answer comes last.
  const isAnswerHidden = () => !shown.look.shown(answers(), [training.learning.asking, 0]);
  const result = now => {
    const { pass, where } = shown,
      { words, model } = pass.document,
      { query } = where.cell;
    if (isAtAnswer() || model.read === "last") return readAt(training.learning, head(), now, words.query);
    const probabilities = [...pass.row(answers(), [query, 0])],
      [weights, { labels }] = [weightsNow(), pass.stages.get(answers()).axes[1]],
      right = model.right[query],
      share = Math.max(...probabilities);
    return {
      asking: words.query[query],
      answer: labels[probabilities.indexOf(share)],
      share,
      right,
      rightShare: probabilities[labels.indexOf(right)],
      most: words.query[weights.indexOf(Math.max(...weights))],
    };
  };
  const motion = makeMotion({
    element: box,
    draw(moment) {
      course.draw(moment.place);
      if (isFilm) thread.film(isAtPass() ? null : training.translations, moment.place);
      if (!moment.weights) return;
      band.draw(moment.weights);
      bar.style.transform = `scaleX(${moment.share.toFixed(4)})`;
    },
    print(moment) {
      const now = Math.round(moment.place);
      write(label, afterText(training, now));
      course.print(
        now,
        isFilm
          ? training.translations[now].words.join(" ")
          : isLarge && !isAnswerHidden()
            ? training.learning.answers[now]
            : "",
      );
      write(verdict, isFilm ? filmText(now) : "");
      if (!moment.weights) return;
      band.print(moment.weights);
      printAnswer(now);
    },
  });
  // At rest at the checkpoint of the pass, which has its own translation, and is asked about.
  const isAtPass = () => !isPlaying && !isDragged && !motion.isMoving && place === training.at;
  const filmText = now => {
    if (!training.translations[now].right.length) return NO_SENTENCE;
    const [, accuracy] = measuredAt(training, now),
      { pass, where, look } = shown,
      most = columnsOf(textsOf(pass, where, look), training.translations).length, // as the thread shows
      texts = textsAt(training.translations, pass.document.words.key, now, most),
      when = afterText(training, now).replace(/^./, letter => letter.toUpperCase());
    return `${when}: ${verdictOf(texts)}. Of ${grouped(training.heldOut)} new sentences ${percent(accuracy)} right.`;
  };
  const askedPosition = () =>
    shown.pass.document.model.read === "last" ? training.learning.asking : shown.where.cell.query;
  const answerIndex = now => [
    askedPosition(),
    shown.pass.stages.get(answers()).axes[1].labels.indexOf(result(Math.round(now)).answer),
  ];
  const printAnswer = now => {
    const { pass } = shown,
      { isOpen, read } = pass.document.model,
      { labels } = pass.stages.get(answers()).axes[1],
      found = result(now),
      counts = { isOpen, nAnswers: labels.length, nLayers: pass.document.layers.length },
      when = now ? `After step ${grouped(training.checkpoints[now])}` : "Before training";
    const verdict = isOpen ? "" : found.right === null ? "unknown" : found.right === found.answer ? "right" : "wrong",
      [mark, title] = MARKS[verdict] ?? [];
    const open = button(found.answer, () => {
      tools.pick(answers(), answerIndex(now));
      tools.visit(answers());
    });
    open.title = "See how this answer was computed";
    answer.classList.toggle("wrong", verdict === "wrong");
    write(
      asked,
      isOpen
        ? `The most probable next ${pass.document.words.unit}`
        : `The answer at “${pass.document.words.query[askedPosition()]}”`,
    );
    redraw(
      answer,
      isAnswerHidden() ? ["?"] : [open, mark && h("span", { class: "mark", role: "img", "aria-label": title }, mark)],
    );
    write(said, isAnswerHidden() ? "" : saidOf(found, when, counts));
    flip.hidden = read !== "last" || isAnswerHidden();
    note.hidden = !tools.alone || now === training.at;
    write(note, `All other numbers here are ${afterText(training, training.at)}.`);
  };
  function goTo(to, options) {
    place = to;
    motion.go(momentAt(to), options);
  }
  // The rest of the page follows to where it rests.
  function settle() {
    if (tools.alone || place === (wanted ?? training.at)) return;
    wanted = tools.train(place) === false ? null : place;
  }
  // The training is of the word that is answered.
  function begin() {
    stop();
    if (isLarge && !isAtAnswer())
      tools.go({ cell: { ...shown.where.cell, query: training.learning.asking }, trail: [] });
  }
  function stop() {
    clearTimeout(timer);
    isPlaying = false;
    showPlay();
  }
  function pause() {
    stop();
    goTo(Math.round(place), { after: settle });
  }
  function start() {
    begin();
    const looks = (isFilm ? turnsOf(training.translations) : looksOf(training.learning.rows, head())).add(last());
    const next = () => {
      if (place === last()) {
        stop();
        return settle();
      }
      const isLook = looks.has(place + 1),
        rest = () => {
          timer = window.setTimeout(next, isLook ? (isFilm ? READ_MS : LOOK_MS) : isCalm() ? LOOK_MS : REST_MS);
        };
      goTo(place + 1, { ms: MOTION_MS, isQuiet: !isLook, after: rest });
    };
    isPlaying = true;
    showPlay();
    if (place < last()) return next();
    place = 0;
    motion.set(momentAt(0));
    timer = window.setTimeout(next, isFilm ? READ_MS : LOOK_MS);
  }
  function showPlay() {
    box.classList.toggle("running", isPlaying); // then it stays on a slide
    write(play, isPlaying ? "❚❚ Pause" : "▶ Play");
    play.ariaLabel = isPlaying ? "Pause" : "Play the training";
  }
  const canShow = () => shown.look.shown(attention(), shown.pass.indexAt(attention(), shown.where.cell));
  // Each returns something else once it is laid out anew. The band has the space that the course leaves.
  const layCourse = memoLast(([, hasPlay, hasCurves, isAlone]) => {
    course.lay(training, hasPlay, hasCurves, isAlone);
    return {};
  });
  const layBand = memoLast(([width]) => {
    band.lay(width < COLUMN_BELOW);
    return {};
  });
  let laid = /** @type {any[]} */ ([]),
    drawn = "";
  // Once all is written: what was laid out anew is drawn at once, and what else has changed moves there.
  const connect = () => {
    if (box.hidden || !box.isConnected) return;
    const { pass, where } = shown,
      of = [where.present, document.fonts.status],
      before = laid,
      width = box.clientWidth,
      hasCurves = isLarge && !pass.document.next; // the bars have their space
    const nowCourse = layCourse([width, isLarge || isFilm, hasCurves, isFilm, training.curve, ...of]),
      { clientWidth, clientHeight } = band.element,
      words = [pass.document.words.query, where.cell.query];
    laid = [nowCourse, isLarge && layBand([width, clientWidth, clientHeight, words, ...of])];
    const now = JSON.stringify([
      momentAt(place),
      isLarge && isAnswerHidden(),
      training.at,
      training.learning?.answers,
      isFilm && training.translations,
    ]);
    if (laid.some((each, nth) => each !== before[nth])) motion.set(momentAt(place));
    else if (now !== drawn && !isPlaying && !isDragged && !motion.isMoving) goTo(place, {});
    drawn = now;
  };
  const observer = new ResizeObserver(connect);
  for (const each of [box, band.element]) observer.observe(each);
  // A new document: the wanted checkpoint may have come, or another model.
  const receive = now => {
    const isSame = training !== null && String(training.curve) === String(now.curve);
    if (!isSame) stop();
    if (!isSame || wanted === now.at) wanted = null;
    training = now;
    if (!isPlaying && !isDragged) place = wanted ?? now.at;
  };
  return {
    element: box,
    update(pass, where, look) {
      shown = { pass, where, look };
      const now = pass.document.model?.training ?? null;
      box.hidden = !now;
      if (now !== training && now) receive(now);
      if (!now) {
        stop();
        training = null;
        isLarge = isFilm = false;
        thread.film(null);
        return;
      }
      const { learning, translations } = now,
        wasLarge = isLarge || isFilm,
        mayBeLarge = isFirst(pass, where) && !pass.other && canShow();
      isLarge = mayBeLarge && learning !== null;
      isFilm = mayBeLarge && hasTwoRows(pass, where) && translations.length > 0;
      if (wasLarge && !isLarge && !isFilm && isPlaying) pause();
      if (!isFilm) thread.film(null);
      box.hidden = !isLarge && !isFilm && Boolean(tools.alone);
      box.classList.toggle("large", isLarge || isFilm);
      box.classList.toggle("of-rows", isFilm);
      box.classList.toggle("of-bars", Boolean(pass.document.next) && !isFilm);
      measures.update(pass, where, look);
      showPlay();
      if (!isLarge || !learning) return;
      const { words } = pass.document;
      band.writeWords([words.query, where.cell.query, words.unit]);
    },
    connect,
    get isLarge() {
      return isLarge && !box.hidden;
    },
    get isRunning() {
      return isPlaying;
    },
    end: stop,
  };
}
