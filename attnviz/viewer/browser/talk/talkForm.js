// The form of a moment in the drawer of a talk: its headline, its slide or what is said beside its pass, its question, and notes.
import { button, h, redraw, write } from "../dom/element.js";
import { imageIn, imageUrl } from "./imageFile.js";
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

// actions: {edit(parts, what), move(by), remove(), give(), open(), addImage(file)}: give() presents the talk from this moment, open() opens its
// scene, addImage() resolves to the name of an image that the talk then has.
export function makeTalkForm(actions, requests) {
  const edit = (name, value) => actions.edit({ [name]: value }, name);
  const title = h("input", { type: "text", maxLength: 300 }),
    text = makeTextArea(3, value => edit("text", value)),
    after = makeTextArea(2, value => edit("after", value)),
    notes = makeTextArea(2, value => edit("notes", value)),
    minutes = h("input", { type: "number", min: 0, max: 120, step: 0.5 }),
    slide = makeSlideForm(actions, requests),
    question = makeQuestionForm(actions.edit, requests, errorText);
  title.oninput = () => edit("title", title.value);
  minutes.oninput = () => edit("minutes", Math.min(Math.max(Number(minutes.value) || 0, 0), 120));
  const spoken = labelled("Text (on the screen and on phones)", text),
    answered = labelled("Said with the answer", after),
    up = button("Move up", () => actions.move(-1)),
    down = button("Move down", () => actions.move(1)),
    opening = button("Open it", actions.open),
    rest = [button("Try it", actions.give), opening, button("Delete", actions.remove)];
  for (const box of [text, after]) box.onchange = question.check; // which says what it lacks
  const box = h(
    "div",
    { class: "moment-form" },
    labelled("Headline", title),
    slide.element,
    spoken,
    question.element,
    answered,
    labelled("Notes for yourself", notes),
    labelled("Minutes", minutes),
    h("p", { class: "acts" }, up, down, rest),
  );
  return {
    element: box,
    update(moment, index, n) {
      show(title, moment.title);
      show(text, moment.text);
      show(after, moment.after);
      show(notes, moment.notes);
      show(minutes, moment.minutes ? String(moment.minutes) : "");
      slide.update(moment.slide);
      spoken.hidden = Boolean(moment.slide) && !moment.text;
      answered.hidden = !moment.ask && !moment.after;
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
