// The form of a moment in the talk's drawer: headline, text, question, notes, and the slide with its image.
import { button, h, redraw, write } from "../dom/element.js";
import { plainText } from "../lesson/sentence.js";
import { makeQuestionForm } from "./questionForm.js";

const MOST_ITEMS = 100; // as in lessons/slide.py

export const errorText = error =>
  error instanceof TypeError ? "The server doesn’t answer. What you typed is still here." : error.message;

const labelled = (name, control) => h("label", {}, h("span", {}, name), control);

function makeTextArea(rows, act, maxLength = 3000) {
  const box = h("textarea", { rows, maxLength, value: "" });
  box.oninput = () => act(box.value);
  return box;
}

const show = (control, text = "") => {
  if (control.value !== text) control.value = text;
};

const MARKUP = /\{[^{}]+\}|\$[^$]+\$|\*\*[^*]+\*\*|`[^`]+`/; // of a lesson: numbers to fill in, formulas, bold, code

// A text of the moment. One that a lesson has written is shown as a class sees it, without its markup, until the user writes another.
function makeWords(name, rows, label, edit, requests) {
  const box = makeTextArea(rows, value => {
      typed = value;
      edit(name, value);
    }),
    seen = h("p"),
    writing = button("Write your own", () => {
      typed = seen.textContent;
      edit(name, typed);
      box.focus();
    }),
    field = labelled(label, box),
    ofLesson = h("div", { class: "of-lesson" }, h("span", {}, label), seen, writing);
  let typed = "", // by the user: it stays in its box, whatever it has in it
    fetched = /** @type {any} */ (null); // the moment that `seen` is of
  function showBox(is) {
    field.hidden = !is;
    ofLesson.hidden = is;
  }
  return {
    box,
    element: h("div", {}, field, ofLesson),
    focus: () => (field.hidden ? writing : box).focus(),
    async update(moment) {
      const text = moment[name] ?? "";
      show(box, text);
      const isOfLesson = text !== typed && MARKUP.test(text);
      showBox(!isOfLesson);
      if (fetched !== null && fetched[name] === text && fetched.at === moment.at) return;
      fetched = moment;
      if (!isOfLesson) return;
      write(seen, "");
      const resolved = await requests.moment(moment).catch(() => null);
      if (fetched !== moment) return;
      if (resolved) return write(seen, plainText(resolved[name]));
      typed = text; // better than nothing
      showBox(true);
    },
  };
}

// actions: {edit(parts, what), move(by), remove(), give(), open(), addImage(file)}: give() presents the talk from this moment, open() opens its
// scene, addImage() resolves to the name of an image that the talk then has.
export function makeTalkForm(actions, requests) {
  const edit = (name, value) => actions.edit({ [name]: value }, name);
  const title = h("input", { type: "text", maxLength: 300 }),
    text = makeWords("text", 3, "Text (on the screen and on phones)", edit, requests),
    after = makeWords("after", 2, "Said with the answer", edit, requests),
    notes = makeTextArea(2, value => edit("notes", value)),
    minutes = h("input", { type: "number", min: 0, max: 120, step: 0.5 }),
    slide = makeSlideForm(actions, requests),
    question = makeQuestionForm(actions.edit, requests, errorText);
  title.oninput = () => edit("title", title.value);
  minutes.oninput = () => edit("minutes", Math.min(Math.max(Number(minutes.value) || 0, 0), 120));
  const up = button("Move up", () => actions.move(-1)),
    down = button("Move down", () => actions.move(1)),
    opening = button("Open it", actions.open),
    rest = [button("Try it", actions.give), opening, button("Delete", actions.remove)];
  for (const { box } of [text, after]) box.onchange = question.check; // which says what it lacks
  const box = h(
    "div",
    { class: "moment-form" },
    labelled("Headline", title),
    slide.element,
    text.element,
    question.element,
    after.element,
    labelled("Notes for yourself", notes),
    labelled("Minutes", minutes),
    h("p", { class: "acts" }, up, down, rest),
  );
  return {
    element: box,
    update(moment, index, n) {
      show(title, moment.title);
      text.update(moment);
      after.update(moment);
      show(notes, moment.notes);
      show(minutes, moment.minutes ? String(moment.minutes) : "");
      slide.update(moment.slide);
      text.element.hidden = Boolean(moment.slide) && !moment.text;
      after.element.hidden = !moment.ask && !moment.after;
      up.disabled = index === 0;
      down.disabled = index === n - 1;
      opening.disabled = Boolean(moment.slide);
      question.update(moment);
    },
    focus: () => (slide.element.hidden ? text : title).focus(),
  };
}

// A slide's text, list and image, which comes from a file, by dropping or by pasting.
function makeSlideForm(actions, requests) {
  const edit = (parts, what) => {
    const all = Object.entries({ ...now, ...parts });
    actions.edit({ slide: Object.fromEntries(all.filter(([, part]) => part.length)) }, what);
  };
  const text = makeTextArea(2, value => edit({ text: value }, "slide text")),
    items = makeTextArea(3, value => edit({ items: itemsIn(value) }, "slide items")),
    alt = h("input", { type: "text", maxLength: 500 }),
    chooser = h("input", { type: "file", accept: "image/png,image/jpeg,image/webp", hidden: true, tabIndex: -1 }),
    choosing = button("Choose an image", () => chooser.click()),
    removing = button("Remove the image", () => edit({ image: "", alt: "" })),
    preview = h("div", { class: "preview" }),
    status = h("p", { class: "note", role: "status" }),
    described = labelled("The image in words, for those who don’t see it", alt),
    imageBox = h("div", { class: "image-box" }, preview, chooser, choosing, removing, status, described),
    box = h("div", { class: "slide-form" }, labelled("Text", text), labelled("List, a line each", items), imageBox);
  let now = /** @type {any} */ ({}),
    drawn = /** @type {string | null} */ (null); // what names the image that is seen
  alt.oninput = () => edit({ alt: alt.value }, "slide alt");
  async function take(file) {
    write(status, "");
    try {
      const image = await actions.addImage(file);
      edit({ image });
      alt.focus();
    } catch (error) {
      write(status, errorText(error));
    }
  }
  chooser.onchange = () => {
    const [file] = chooser.files;
    chooser.value = "";
    if (file) take(file);
  };
  const receive = transfer => event => {
    const file = imageIn(event[transfer]);
    if (!file) return;
    event.preventDefault();
    event.stopPropagation(); // the line it is in takes moments
    take(file);
  };
  box.onpaste = receive("clipboardData");
  box.ondrop = receive("dataTransfer");
  box.ondragover = event => {
    if (event.dataTransfer.types.includes("Files")) event.preventDefault();
  };
  async function drawImage(name) {
    const found = requests.nameOf({ slide: { image: name } });
    if (found === drawn) return;
    drawn = found;
    redraw(preview, name ? [] : ["Drop or paste an image here: PNG, JPEG or WebP, up to 300 kB."]);
    if (!name) return;
    const image = await requests.image(name);
    if (drawn !== found) return;
    redraw(preview, [image ? h("img", { src: imageUrl(image), alt: "" }) : "The image isn’t here: choose it again."]);
  }
  return {
    element: box,
    update(slide) {
      box.hidden = !slide;
      if (!slide) return;
      if (slide.image !== now.image) write(status, "");
      now = slide;
      show(text, slide.text);
      if (itemsIn(items.value).join("\n") !== (slide.items ?? []).join("\n"))
        items.value = (slide.items ?? []).join("\n");
      show(alt, slide.alt);
      removing.hidden = described.hidden = !slide.image;
      drawImage(slide.image ?? "");
    },
  };
}

const itemsIn = text =>
  text
    .split("\n")
    .map(line => line.trim())
    .filter(Boolean)
    .slice(0, MOST_ITEMS);

const MAX_BYTES = 300_000, // of an image, as in core/limits.py
  MAX_CHARACTERS = 2_600_000; // of all images of a talk, as base64, as there

/** "" for other files; as in lessons/slide.py. @param {string} text the bytes as characters */
function typeOf(text) {
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "png";
  if (text.startsWith("\xff\xd8\xff")) return "jpeg";
  return text.startsWith("RIFF") && text.startsWith("WEBP", 8) ? "webp" : "";
}

const kilobytes = bytes => `${Math.ceil(bytes / 1000).toLocaleString("en")} kB`;

/** The file as base64; an error says why a slide can't have it. `used` are the characters of the talk's other images.
 * @param {File} file @param {number} used */
export async function readImage(file, used) {
  const { size, name } = file;
  if (size > MAX_BYTES)
    throw new Error(
      `An image has at most ${kilobytes(MAX_BYTES)}, and ${named(name)} has ${kilobytes(size)}. Save it smaller, as JPEG or WebP.`,
    );
  const bytes = new Uint8Array(await file.arrayBuffer()),
    text = Array.from(bytes, byte => String.fromCharCode(byte)).join("");
  if (!typeOf(text))
    throw new Error(`An image is a PNG, a JPEG or a WebP, and ${named(name)} is none of them. Save it as one.`);
  const base64 = btoa(text);
  if (used + base64.length > MAX_CHARACTERS) {
    const [most, all] = [MAX_CHARACTERS, used + base64.length].map(characters => kilobytes((3 * characters) / 4));
    throw new Error(`A talk has at most ${most} of images, and with ${named(name)} it would have ${all}.`);
  }
  return base64;
}

const named = name => (name ? `“${name}”` : "this one");

/** @param {Crypto} crypto */
export const newImageName = crypto =>
  `image-${Array.from(crypto.getRandomValues(new Uint32Array(2)), part => part.toString(16).padStart(8, "0")).join("")}`;

/** The image that is dropped or pasted; undefined where there is none. @param {DataTransfer | null} transfer */
export const imageIn = transfer => [...(transfer?.files ?? [])].find(({ type }) => type.startsWith("image/"));

/** @param {string} base64 */
export const imageUrl = base64 => `data:image/${typeOf(atob(base64.slice(0, 16)))};base64,${base64}`;
