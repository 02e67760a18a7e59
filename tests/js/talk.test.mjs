// A talk in the browser: images are what their bytes are, and the editor shows a question as a class will see it.
import assert from "node:assert/strict";
import test from "node:test";
import { makeSpeaker } from "../../attnviz/viewer/browser/classroom/classSpeaker.js";
import { edited } from "../../attnviz/viewer/browser/talk/talkDrawer.js";
import { drawMoment } from "../../attnviz/viewer/browser/lesson/momentText.js";
import { drawSlideThumbnail, makeSlidePicture } from "../../attnviz/viewer/browser/lesson/slide.js";
import { OWN_KINDS, thumbnailFrom, thumbnailOf } from "../../attnviz/viewer/browser/lesson/speakerWindow.js";
import { packed, unpacked } from "../../attnviz/viewer/browser/talk/talkDock.js";
import { filesOf, isTalk, makeTalkRequests, makeTalkUploads } from "../../attnviz/viewer/browser/talk/talkFiles.js";
import {
  imageIn,
  imageUrl,
  makeTalkForm,
  newImageName,
  readImage,
} from "../../attnviz/viewer/browser/talk/talkForm.js";
import { readPass } from "../../attnviz/viewer/browser/model/pass.js";
import { documentOf } from "./documents.mjs";
import { install } from "./fakeDom.mjs";
import { mockTimeouts, storeOf, turns } from "./helpers.mjs";

const PNG = "\x89PNG\r\n\x1a\n",
  BEGUN = { png: PNG, jpeg: "\xff\xd8\xff", webp: "RIFF\x00\x00\x00\x00WEBP" },
  LIES = ["", "<svg/>", "GIF89a", "\x89PNG", `a${PNG}`, "RIFFWEBP", "RIFF\x00\x00\x00\x00WAVE", "%PDF"];

const fileOf = (begun, size = begun.length, name = "a.png") =>
  new File([Uint8Array.from(begun.padEnd(size, "\x00"), sign => sign.charCodeAt(0))], name, { type: "image/png" });

test("an image is what its bytes are, whatever its name", async () => {
  for (const [type, begun] of Object.entries(BEGUN)) {
    const base64 = await readImage(fileOf(begun, 60), 0);
    assert.equal(atob(base64).slice(0, begun.length), begun);
    assert.equal(imageUrl(base64), `data:image/${type};base64,${base64}`);
  }
  for (const lie of LIES) await assert.rejects(readImage(fileOf(lie), 0), /PNG, a JPEG or a WebP.*“a.png”/);
});

test("an image's limits are exact, and a refusal says both sizes", async () => {
  const most = await readImage(fileOf(PNG, 300_000), 0);
  assert.equal(most.length, 400_000);
  await assert.rejects(readImage(fileOf(PNG, 300_001, ""), 0), /at most 300 kB, and this one has 301 kB/);
  await assert.rejects(readImage(fileOf(PNG, 12_345_678, "b"), 0), /300 kB, and “b” has 12,346 kB/);
  assert.equal((await readImage(fileOf(PNG, 300_000), 2_200_000)).length, 400_000);
  await assert.rejects(readImage(fileOf(PNG, 300_000), 2_200_004), /at most 1,950 kB .* would have 1,951 kB/);
});

test("an image is taken from what is dropped or pasted, and a text isn't", () => {
  const [image, text] = [fileOf(PNG), new File(["a"], "a.txt", { type: "text/plain" })];
  assert.equal(imageIn({ files: [text, image] }), image);
  for (const none of [null, { files: [] }, { files: [text] }]) assert.equal(imageIn(none), undefined);
  const names = Array.from({ length: 50 }, () => newImageName(crypto));
  assert.equal(new Set(names).size, 50);
  for (const name of names) assert.match(name, /^[a-z0-9-]{1,40}$/);
});

test("a talk's link has all of it but the speaker's notes", async () => {
  const moment = [{ at: "a", text: "b", notes: "for me" }, { at: "c" }, { at: "", slide: { text: "d" }, notes: "" }],
    read = JSON.parse(await unpacked(await packed({ title: "e", moment })));
  assert.deepEqual(read, {
    title: "e",
    moment: [{ at: "a", text: "b" }, { at: "c" }, { at: "", slide: { text: "d" } }],
  });
});

test("a stored slide is a moment, and what is none of it is no talk", () => {
  const talk = {
    title: "",
    moment: [
      { at: "", slide: { text: "a", items: ["b"], image: "c" } },
      { at: "d", uploads: ["c"] },
    ],
  };
  assert.equal(isTalk(talk), true);
  assert.deepEqual(filesOf(talk.moment), ["c", "image c"], "an image and an upload may have one name");
  for (const slide of [null, 7, { text: 7 }, { items: "ab" }, { items: [{}] }])
    assert.equal(isTalk({ title: "", moment: [{ at: "", slide }] }), false, JSON.stringify(slide));
  assert.deepEqual(edited(talk, 0, { slide: {} }).moment[0], { at: "", slide: {} }, "an empty slide is one");
});

// A database that keeps what it is given, unless a file has more than `most` letters: that shows as its transaction ends.
function makeDatabases(kept, most) {
  const asked = (result, act = () => {}) => {
    const request = { result };
    queueMicrotask(act);
    queueMicrotask(() => request.onsuccess?.());
    return request;
  };
  const transaction = () => {
    const made = {},
      files = {
        transaction: made,
        get: name => asked(kept.get(name)),
        getAllKeys: () => asked([...kept.keys()]),
        delete: name => asked(kept.delete(name)),
        put: (file, name) =>
          asked(name, () => {
            if (file.length <= most) kept.set(name, file);
            queueMicrotask(() => (file.length <= most ? made.oncomplete?.() : made.onabort?.()));
          }),
      };
    return { objectStore: () => files };
  };
  return { open: () => asked({ transaction }) };
}

test("a full storage is said, and what it refused is there as long as the page", async () => {
  const kept = new Map(),
    uploads = makeTalkUploads(makeDatabases(kept, 9)),
    requests = makeTalkRequests("", {}, uploads),
    moments = ["a", "b"].map(image => ({ at: "", slide: { image } }));
  await requests.keepImage("a", "AAAA");
  assert.equal(requests.areKept(moments), true);
  await requests.keepImage("b", "B".repeat(10));
  assert.deepEqual([requests.areKept(moments), requests.areKept(moments.slice(0, 1))], [false, true]);
  assert.deepEqual(await requests.imagesOf(moments), { a: "AAAA", b: "B".repeat(10) });
  assert.deepEqual(await requests.imagesOf([{ at: "", slide: { image: "gone" } }, { at: "" }]), {});
  await uploads.retain(filesOf(moments));
  assert.deepEqual([...kept.keys()], ["image a"]);
  await uploads.retain([]);
  assert.equal(kept.size, 0);
});

// The form with a talk of one moment, as the drawer has it; `resolved` gives what the server makes of that moment.
function makeForm(moment, { suggestions = [], resolved = () => ({ question: null }) } = {}) {
  install();
  Element.prototype.focus = () => {};
  let talk = { title: "", moment: [moment] };
  const asked = [],
    images = { c: btoa(PNG) };
  const requests = {
    nameOf: JSON.stringify,
    questions: async () => suggestions,
    moment(each) {
      asked.push(each);
      return Promise.resolve(resolved(each));
    },
    image: async name => images[name] ?? "",
  };
  const actions = {
    edit(parts) {
      talk = edited(talk, 0, parts);
      form.update(talk.moment[0], 0, 1);
    },
    addImage: async () => "c",
    move: () => {},
  };
  const form = makeTalkForm(actions, requests);
  document.body.append(form.element);
  form.update(moment, 0, 1);
  const field = name => {
    const labels = form.element
      .querySelectorAll("label")
      .filter(label => label.querySelector("span").textContent === name);
    assert.equal(labels.length, 1, name);
    return labels[0].children.find(({ localName }) => localName !== "span");
  };
  return {
    form,
    asked,
    field,
    get moment() {
      return talk.moment[0];
    },
    type(control, value) {
      control.value = value;
      control.oninput();
    },
    choose(value) {
      const select = field("Question");
      select.value = value;
      select.onchange();
    },
    note: () => form.element.querySelector(".answer").textContent,
  };
}

test("a lesson's text stands as a class sees it, and the user's own in a box, whatever it has in it", async () => {
  const { form, field, type } = makeForm(
      { at: "a", text: "**3** is {count.words}", after: "plain" },
      {
        resolved: () => ({
          question: null,
          text: [
            ["strong", "3"],
            ["", " is "],
            ["number", { text: "8" }],
          ],
          after: [],
        }),
      },
    ),
    ofLesson = () => form.element.querySelectorAll(".of-lesson").filter(each => !each.hidden),
    box = field("Text (on the screen and on phones)");
  await turns();
  assert.deepEqual(
    ofLesson().map(each => each.querySelector("p").textContent),
    ["3 is 8"],
  );
  ofLesson()[0].querySelector("button").onclick();
  await turns();
  assert.deepEqual([ofLesson().length, box.value], [0, "3 is 8"]);
  for (const text of ["3 is {count.words}", "$d_k$ and **bold**", ""]) {
    type(box, text);
    await turns();
    assert.deepEqual([ofLesson().length, box.value], [0, text]);
  }
});

const TEMPLATE = { kind: "count", of: "words", unit: "words", prompt: "{count.words} of {count.d_k}?" },
  RESOLVED = {
    question: {
      kind: "fill",
      right: 3,
      text: "3",
      unit: "words",
      prompt: [
        ["", "3 of "],
        ["number", { text: "8" }],
        ["", "?"],
      ],
    },
  };

test("a computed question stands as a class will see it, and stays computed until it is edited", async () => {
  const made = makeForm({ at: "a", ask: TEMPLATE }, { resolved: () => RESOLVED });
  await turns();
  const prompt = made.field("Asked as");
  assert.equal(prompt.value, "3 of 8?");
  assert.equal(made.note(), "The answer: 3 words.");
  assert.ok(!made.form.element.textContent.includes("{"), "no template is seen");
  assert.deepEqual(made.moment, { at: "a", ask: TEMPLATE });
  made.type(prompt, "How many, {count.d_k}?");
  assert.deepEqual(made.moment, { at: "a", ask: TEMPLATE, asked_as: "How many, {count.d_k}?" });
  assert.equal(prompt.value, "How many, {count.d_k}?");
  made.type(prompt, "3 of 8?");
  assert.deepEqual(made.moment, { at: "a", ask: TEMPLATE }, "as computed again");
  document.activeElement = prompt;
  made.type(prompt, "");
  assert.equal(prompt.value, "", "nobody's empty box is filled while they write");
  document.activeElement = null;
  prompt.onchange();
  await turns();
  assert.deepEqual([prompt.value, made.moment], ["3 of 8?", { at: "a", ask: TEMPLATE }]);
});

test("a question that is chosen from the pass takes the words of another along with it", async () => {
  const ask = { kind: "word", of: "attention[a, *]", prompt: "Which word?" },
    made = makeForm(
      { at: "a", ask: TEMPLATE, asked_as: "Mine?" },
      { suggestions: [{ ask, answer: "b" }], resolved: () => RESOLVED },
    );
  await turns();
  assert.equal(made.field("Asked as").value, "Mine?");
  made.choose("0");
  assert.deepEqual(made.moment, { at: "a", ask });
  made.choose("none");
  assert.deepEqual(made.moment, { at: "a" });
});

test("a choice has rows to write and to tick, and says what it lacks", async () => {
  const made = makeForm({ at: "", slide: { text: "x" } });
  made.choose("own-choice");
  await turns();
  assert.equal(made.note(), "Type what you ask.");
  made.type(made.field("Asked as"), "{count.d_k} <b>?");
  const rows = () => made.form.element.querySelectorAll(".own-options li").map(({ children }) => children);
  assert.match(made.note(), /at least two answers/);
  made.type(rows()[0][1], "yes");
  made.type(rows()[1][1], "no");
  assert.match(made.note(), /an opinion/);
  made.form.element
    .querySelectorAll("button")
    .find(({ textContent }) => textContent === "Add an answer")
    .onclick();
  assert.equal(rows().length, 3);
  Object.assign(rows()[1][0], { checked: true }).onchange();
  assert.equal(made.note(), "");
  const options = [{ text: "yes" }, { text: "no", right: true }, { text: "" }];
  assert.deepEqual(made.moment.ask, { kind: "own-choice", prompt: "{count.d_k} <b>?", options });
  rows()[2][2].onclick();
  Object.assign(rows()[1][0], { checked: false }).onchange();
  assert.deepEqual(made.moment.ask.options, [{ text: "yes" }, { text: "no" }]);
  assert.deepEqual(made.asked, [], "the server is asked for nothing");
});

test("a number that is none yet stays typed, and is not kept", () => {
  const made = makeForm({ at: "", slide: {} });
  made.choose("own-number");
  made.type(made.field("Asked as"), "?");
  const [right, tolerance, unit] = ["Right number, if any", "May be off by", "Unit"].map(made.field);
  for (const [typed, kept] of [
    ["-", undefined],
    ["−2,5", -2.5],
    ["1/2", 0.5],
    ["0", 0],
    ["x", 0],
    ["2e13", 0],
    ["", undefined],
  ]) {
    made.type(right, typed);
    made.form.update(made.moment, 0, 1);
    assert.deepEqual([right.value, made.moment.ask.right], [typed, kept]);
  }
  made.type(tolerance, "-1");
  assert.equal(made.moment.ask.tolerance, undefined, "nothing is off by less than nothing");
  made.type(tolerance, "0.5");
  made.type(unit, "{m}");
  assert.deepEqual(made.moment.ask, { kind: "own-number", prompt: "?", tolerance: 0.5, unit: "{m}" });
  made.type(unit, "");
  assert.deepEqual(made.moment.ask, { kind: "own-number", prompt: "?", tolerance: 0.5 });
});

test("a slide's list keeps what is being written, and its lines are its items", async () => {
  const made = makeForm({ at: "", slide: {} }),
    list = made.field("List, a line each");
  made.type(list, "one\n\n two \n");
  assert.deepEqual([list.value, made.moment.slide], ["one\n\n two \n", { items: ["one", "two"] }]);
  made.type(made.field("Text"), "t");
  made.type(list, "");
  assert.deepEqual(made.moment.slide, { text: "t" });
  const box = made.form.element.querySelector(".slide-form"),
    event = { clipboardData: { files: [fileOf(PNG)] }, preventDefault: () => {}, stopPropagation: () => {} };
  box.onpaste(event);
  await turns();
  assert.deepEqual(made.moment.slide, { text: "t", image: "c" });
  made.type(made.field("The image in words, for those who don’t see it"), "a thing");
  made.form.element
    .querySelectorAll("button")
    .find(({ textContent }) => textContent === "Remove the image")
    .onclick();
  assert.deepEqual(made.moment.slide, { text: "t" });
});

test("a slide is drawn as text, whatever it says, and its small picture is its image or what it says first", () => {
  install();
  const hostile = "<img src=x onerror=alert(1)>{count.d_k}",
    moment = { title: hostile, picture: { kind: "slide", text: hostile, items: [hostile], image: "", alt: hostile } },
    picture = makeSlidePicture();
  picture.show(moment);
  assert.equal(picture.element.querySelectorAll("img").length, 0);
  assert.equal(picture.element.textContent.split(hostile).length, 5, "as typed, four times");
  assert.deepEqual(thumbnailFrom(moment), { slide: { title: hostile, ...moment.picture } }, "it has no pass to read");
  assert.equal(drawSlideThumbnail({ items: ["first", "second"] }).textContent, "first");
  const [image] = drawSlideThumbnail({ title: "a", image: "data:image/png;base64,AA" }).children;
  assert.equal(image.src, "data:image/png;base64,AA");
});

test("a thumbnail tells the steps and words of one sentence apart, and draws no arcs for a picture that has none", () => {
  const pass = readPass(documentOf()),
    { where, steps } = pass.document,
    names = steps.flatMap(({ id }) =>
      [0, 1].map(query => thumbnailOf(pass, { ...where, step: id, cell: { ...where.cell, query } }).name),
    );
  assert.equal(new Set(names).size, names.length, names.join());
  for (const kind of ["sweep", "mistake"])
    assert.deepEqual(thumbnailFrom({ picture: { kind }, document: pass.document, at: "" }), { kind: OWN_KINDS[kind] });
});

test("the answers of a choice of one's own stand on paper, as they stand nowhere else", () => {
  install();
  const candidates = ["<b>yes</b>", "no"].map(label => ({ label, feedback: [] })),
    question = { kind: "choose", prompt: [["", "Which?"]], candidates, right: [], isCode: false },
    moment = { title: "", why: [], worked: [], text: [], after: [], question, ending: null, picture: null },
    listed = (each, isShown = true) =>
      drawMoment(each, "paper", { isShown }).flatMap(
        part => part.querySelectorAll?.("li").map(li => li.textContent) ?? [],
      );
  assert.deepEqual(listed(moment), ["<b>yes</b>", "no"]);
  const computed = candidates.map(each => ({ ...each, feedback: [["", "Why."]] }));
  const ofLesson = { ...moment, question: { ...question, candidates: computed, right: [0] } };
  assert.deepEqual(listed(ofLesson), []);
  assert.deepEqual(listed(ofLesson, false), ["<b>yes</b>", "no"], "before the lecture nothing else has them");
});

test("a room is sent a slide's image once, where it says that it lacks it", async t => {
  mockTimeouts(t, ["setInterval"]);
  const room = { has: new Set(), moves: [] },
    line = {
      post: (_code, body) => {
        if (body.do === "make")
          return Promise.resolve({ isDone: true, data: { code: "A", seat: "s", key: "k", link: "l" } });
        if (body.do !== "move") return Promise.resolve({ isDone: true, data: {} });
        room.moves.push([body.moment.slide.image, body.image]);
        const name = body.moment.slide.image,
          lacksImage = !room.has.has(name) && body.image === undefined;
        if (body.image) room.has.add(name);
        return Promise.resolve({
          isDone: true,
          status: 200,
          data: { number: room.moves.length, isOwn: false, lacksImage },
        });
      },
      listen: (_room, _around, { now }) => {
        now({ number: 0, at: "", audience: { pressed: 0 }, hasEnded: false, isShown: false });
        return () => {};
      },
    },
    speaker = makeSpeaker(line, () => storeOf());
  await speaker.open();
  const place = (name, isShown, image) => ({
    at: "",
    isShown,
    moment: { slide: { image: name } },
    image: async () => image,
  });
  for (const at of [
    place("a", false, "AAAA"),
    place("a", true, "AAAA"),
    place("b", false, ""),
    place("a", false, "AAAA"),
  ]) {
    speaker.sendPlace(at);
    await turns();
  }
  const expected = [
    ["a", undefined],
    ["a", "AAAA"],
    ["a", undefined],
    ["b", undefined],
    ["b", ""],
    ["a", undefined],
  ];
  assert.deepEqual(room.moves, expected, "one that the browser has lost is sent as none");
});
