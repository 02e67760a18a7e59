import assert from "node:assert/strict";
import test from "node:test";
import { makeMemory } from "../../attnviz/viewer/browser/lesson/memory.js";
import { makeTalkStore } from "../../attnviz/viewer/browser/talk/talkController.js";
import { makeWindowPair, planText, timeText } from "../../attnviz/viewer/browser/lesson/speakerWindow.js";
import {
  NOTHING,
  added,
  edited,
  entryOf,
  isTalk,
  minutesOf,
  moved,
  placeBeside,
  without,
} from "../../attnviz/viewer/browser/lesson/course.js";
import { makeTalkUploads } from "../../attnviz/viewer/browser/talk/talkDock.js";

const TALK = { title: "T", moment: ["a", "b", "c", "d"].map(at => ({ at })) };
const order = ({ moment }) => moment.map(({ at }) => at).join("");

test("a moment is added, moved, edited and deleted, and the list before stays what it was", () => {
  assert.equal(order(added(TALK, { at: "e" })), "abcde");
  assert.equal(order(added(TALK, { at: "e" }, 1)), "aebcd");
  for (const from of [0, 1, 2, 3])
    for (const to of [-1, 0, 1, 2, 3, 9]) {
      const expected = [..."abcd"].filter((_, nth) => nth !== from);
      expected.splice(Math.max(0, Math.min(to, 3)), 0, "abcd"[from]);
      assert.equal(order(moved(TALK, from, to)), expected.join(""));
      assert.equal(
        order(moved(moved(TALK, from, Math.max(0, Math.min(to, 3))), Math.max(0, Math.min(to, 3)), from)),
        "abcd",
      );
    }
  assert.equal(order(without(TALK, 2)), "abd");
  const said = edited(TALK, 1, { text: "x", minutes: 2, ask: { kind: "answer", prompt: "" } });
  assert.deepEqual(said.moment[1], { at: "b", text: "x", minutes: 2, ask: { kind: "answer", prompt: "" } });
  assert.deepEqual(edited(said, 1, { text: "", minutes: 0, ask: null }), TALK);
  assert.equal(order(TALK), "abcd");
});

test("an entry counts its moments and minutes, and there is none of an empty talk", () => {
  assert.equal(entryOf(NOTHING), null);
  const { name, nMoments, minutes } = entryOf({
    title: " ",
    moment: [{ at: "", minutes: 1.5 }, { at: "", minutes: 2.5 }, { at: "" }],
  });
  assert.deepEqual([name, nMoments, minutes], ["Your talk", 3, 4]);
  assert.equal(minutesOf([]), 0);
});

const windowOf = () => ({ listen: [], addEventListener: (_, act) => windowOf.all.push(act) });
windowOf.all = [];

function storeOf(texts = {}) {
  return {
    getItem: name => texts[name] ?? null,
    setItem: (name, text) => {
      texts[name] = text;
    },
  };
}

test("a talk is kept by the browser, and what was done to it is undone", () => {
  const store = storeOf(),
    own = makeTalkStore(() => store, windowOf());
  own.change(added(own.talk, { at: "a" }));
  own.change({ ...own.talk, title: "A" }, "title");
  own.change({ ...own.talk, title: "AB" }, "title");
  own.keepPicture("a", { words: [] });
  const again = makeTalkStore(() => store, windowOf());
  assert.deepEqual(again.talk, { title: "AB", moment: [{ at: "a" }] });
  assert.deepEqual(again.pictureOf("a"), { words: [] });
  own.undo();
  assert.equal(own.talk.title, "", "what was typed into one box is one change");
  assert.equal(order(own.talk), "a");
  own.undo();
  assert.deepEqual(own.talk, NOTHING);
  assert.equal(own.canUndo, false);
});

// A browser's store that takes so many characters, as one that is full; it takes nothing where it is forbidden.
function fullStore(texts, most) {
  const { getItem, setItem } = storeOf(texts);
  return {
    getItem,
    setItem: (name, text) => {
      if (text.length > most) throw new DOMException("full", "QuotaExceededError");
      setItem(name, text);
    },
  };
}

test("whether a talk is kept is what the browser says, and one that has little room keeps the talk without its pictures", () => {
  const forbidden = makeTalkStore(() => {
    throw new DOMException("forbidden", "SecurityError");
  }, windowOf());
  assert.equal(forbidden.isKept, true, "as there is nothing to keep");
  forbidden.change(added(forbidden.talk, { at: "a" }));
  assert.deepEqual([forbidden.isKept, order(forbidden.talk)], [false, "a"]);

  const texts = {},
    own = makeTalkStore(() => fullStore(texts, 200), windowOf()),
    again = () => makeTalkStore(() => storeOf(texts), windowOf()).talk;
  let told = 0;
  own.onChange(() => {
    told += 1;
  });
  own.change(added(own.talk, { at: "a" }));
  own.keepPicture("a", { words: ["x".repeat(200)] });
  assert.deepEqual([own.isKept, again()], [true, own.talk]);
  own.change(added(own.talk, { at: "b", text: "y".repeat(200) }));
  assert.deepEqual([own.isKept, order(again()), order(own.talk)], [false, "a", "ab"], "what is kept is older");
  told = 0;
  own.change(without(own.talk, 1));
  assert.deepEqual([own.isKept, again(), told], [true, own.talk, 1]);
});

test("whether answers and files are kept is what the browser says", async () => {
  const texts = {},
    memories = [() => storeOf(texts), () => fullStore({}, 10)].map(makeMemory);
  for (const memory of memories) memory.predicted({ lesson: "masks", moment: 1 }, true);
  assert.deepEqual(
    memories.map(({ isKept }) => isKept),
    [true, false],
  );
  assert.deepEqual(makeMemory(() => storeOf(texts)).scoreOf("masks"), { right: 1, asked: 1 });

  const uploads = makeTalkUploads({
    open: () => {
      throw new DOMException("forbidden", "SecurityError");
    },
  });
  assert.equal(uploads.areKept(["a"]), true);
  await uploads.keep({ a: "AAAA" });
  assert.deepEqual(
    [uploads.areKept(["a"]), uploads.areKept(["b"]), await uploads.of(["a"])],
    [false, true, { a: "AAAA" }],
  );
});

test("another tab's change is taken, and what is no talk is none", () => {
  const texts = {},
    store = storeOf(texts),
    before = windowOf.all.length,
    own = makeTalkStore(() => store, windowOf());
  let told = 0;
  own.onChange(() => {
    told += 1;
  });
  texts["attnviz talk"] = JSON.stringify({ talk: TALK });
  windowOf.all[before]({ key: "attnviz talk" });
  assert.deepEqual([order(own.talk), told], ["abcd", 1]);
  for (const kept of [
    "",
    "[",
    "null",
    "7",
    '{"talk":{"title":1,"moment":[]}}',
    '{"talk":{"title":"","moment":[{"at":1}]}}',
    '{"talk":{"title":"","moment":[{"at":"","text":{}}]}}',
  ])
    assert.deepEqual(makeTalkStore(() => storeOf({ "attnviz talk": kept }), windowOf()).talk, NOTHING);
  assert.deepEqual(
    makeTalkStore(() => {
      throw new Error("none");
    }, windowOf()).talk,
    NOTHING,
  );
  assert.equal(isTalk(TALK), true);
});

test("one's own talk doesn't go on to a lesson, nor a lesson to it", () => {
  const course = [
    { id: "one", nMoments: 1 },
    { id: "talk", nMoments: 2, isOwn: true },
  ];
  assert.equal(placeBeside(course, { lesson: "one", moment: 1 }, 1), null);
  assert.equal(placeBeside(course, { lesson: "talk", moment: 1 }, -1), null);
  assert.deepEqual(placeBeside(course, { lesson: "talk", moment: 1 }, 1), { lesson: "talk", moment: 2 });
});

test("two windows tell each other where they are, and one goes on when the other is gone", async () => {
  const places = { main: { lesson: "talk", moment: 3, isShown: false }, speaker: null },
    acts = who => ({
      now: () => places[who],
      follow: to => {
        places[who] = to;
      },
    });
  let href = "";
  const window = {
    location: { protocol: "https:" },
    BroadcastChannel,
    crypto: globalThis.crypto,
    open: to => {
      href = to;
      return {};
    },
  };
  const main = makeWindowPair(window, "", acts("main"));
  main.sync(); // nobody listens
  assert.equal(
    main.open(name => name),
    true,
  );
  const speaker = makeWindowPair(window, href, acts("speaker"));
  const becomes = async (who, moment) => {
    for (let n = 0; n < 200 && places[who]?.moment !== moment; n += 1)
      await new Promise(done => {
        setTimeout(done, 5);
      });
    assert.equal(places[who]?.moment, moment);
  };
  await becomes("speaker", 3);
  places.speaker = { lesson: "talk", moment: 4, isShown: true };
  speaker.sync();
  await becomes("main", 4);
  speaker.end();
  places.main = { lesson: "talk", moment: 5, isShown: false };
  main.sync();
  main.end();
  assert.equal(places.speaker.moment, 4);
});

// A window of a talk from a file, opened by another one.
function fileOf(opener) {
  const listeners = [];
  return {
    location: { protocol: "file:" },
    crypto: globalThis.crypto,
    opener,
    addEventListener: (_, act) => listeners.push(act),
    removeEventListener: (_, act) => listeners.splice(listeners.indexOf(act), 1),
    hear: event => {
      for (const act of listeners) act(event);
    },
  };
}

// Two such windows: what posts to one arrives as `deliver` calls it. Returns {main, speaker}.
function twoFiles(deliver) {
  const doorTo = (window, source) => ({
      postMessage: data => deliver(() => window().hear({ source: source(), data })),
    }),
    mainAt = doorTo(
      () => main,
      () => speakerAt,
    ),
    speakerAt = doorTo(
      () => speaker,
      () => mainAt,
    );
  const main = fileOf(null),
    speaker = fileOf(mainAt);
  main.open = () => speakerAt;
  return { main, speaker };
}

test("two files tell each other too, and hear nobody else", () => {
  const followed = [],
    { main, speaker } = twoFiles(arrive => arrive());
  const acts = who => ({ now: () => ({ moment: who }), follow: to => followed.push([who, to.moment]) });
  const one = makeWindowPair(main, "", acts("main"));
  one.open(name => name);
  const other = makeWindowPair(speaker, "7", acts("speaker"));
  assert.deepEqual(followed, [["speaker", "main"]], "as it opens, it is told where the talk is");
  other.sync();
  main.hear({ source: {}, data: { moment: "a stranger's" } });
  assert.deepEqual(followed.slice(1), [["main", "speaker"]]);
  other.end();
  one.sync();
  assert.equal(followed.length, 2);
});

test("who presses on before the talk has said where it is, is not set back", () => {
  const posted = [],
    { main, speaker } = twoFiles(arrive => posted.push(arrive)),
    at = { main: 1, speaker: 1 };
  const acts = who => ({
    now: () => ({ moment: at[who] }),
    follow: ({ moment }) => {
      at[who] = moment;
    },
  });
  makeWindowPair(main, "", acts("main")).open(name => name);
  const own = makeWindowPair(speaker, "7", acts("speaker"));
  for (at.speaker of [2, 3]) own.sync();
  while (posted.length) posted.shift()();
  assert.deepEqual(at, { main: 3, speaker: 3 });
});

test("time and plan are said in minutes and seconds", () => {
  assert.deepEqual([0, 59_999, 60_000, 3_725_000].map(timeText), ["0:00", "0:59", "1:00", "62:05"]);
  assert.equal(planText([1.5, 2], 1), "This moment ends at 1:30 of 3:30 planned");
  assert.equal(planText([0, 0], 1), "");
});
