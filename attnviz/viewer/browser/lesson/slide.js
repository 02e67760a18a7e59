// A slide of a talk: its headline, text, list and image, in the largest letters that fit. It doesn't need the viewer, so phones can draw it.
import { h, makeScroller, redraw } from "../dom/element.js";

const SHRINK = 0.94, // from one size of letters to the next
  LINES = 11, // of letters of the largest size, one above the other
  LETTERS = 18, // and beside each other
  TALL = 1.15, // of its width to its height: a narrower box has the image below the words
  LEAST_PX = 16;

/** @param {string} title @param {import("../../generated/contract").Slide} slide */
function drawSlide(title, { text, items, image, alt }) {
  const words = [
    text && h("p", { class: "slide-text" }, text),
    items.length > 0 && h("ul", {}, ...items.map(item => h("li", {}, item))),
  ].filter(Boolean);
  const shown = image ? drawImage(image, alt) : alt && h("p", { class: "not-here" }, `Image: ${alt}`);
  return [
    title && h("h2", {}, title),
    (words.length > 0 || shown) &&
      h("div", { class: "slide-body" }, words.length > 0 && h("div", { class: "slide-words" }, words), shown),
  ];
}

// As large as its box lets it be; only once it is there its sides are known.
function drawImage(src, alt) {
  const image = h("img", { alt }),
    box = h("figure", { class: "slide-image" }, image);
  image.onload = () => box.style.setProperty("--ratio", String(image.naturalWidth / image.naturalHeight));
  image.src = src;
  return box;
}

/** A moment's slide, as pictures of moments are made. */
export function makeSlidePicture() {
  const box = makeScroller(h("section", { class: "own-picture slide", ariaLabel: "The slide" }));
  let shown = null; // the moment: drawn anew, an image would flicker
  function fit() {
    const { clientWidth, clientHeight } = box;
    if (!clientWidth) return;
    box.classList.toggle("tall", clientWidth < TALL * clientHeight);
    box.classList.remove("over");
    const least = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || LEAST_PX, // 1rem, as of all that is presented
      most = Math.max(Math.min(clientHeight / LINES, clientWidth / LETTERS), least);
    for (let size = most; ; size = Math.max(size * SHRINK, least)) {
      box.style.setProperty("--slide", `${size.toFixed(1)}px`);
      if (!isOver()) return;
      if (size <= least) break;
    }
    box.classList.add("over"); // it scrolls
  }
  const isOver = () =>
    [box, ...box.querySelectorAll(".slide-words")].some(
      each => each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1,
    );
  const observer = new ResizeObserver(fit);
  observer.observe(box);
  return {
    element: box,
    show(moment) {
      if (moment === shown) return;
      shown = moment;
      const { title, picture } = moment;
      box.classList.toggle("headline-alone", !picture.text && !picture.items.length && !picture.image && !picture.alt);
      redraw(box, drawSlide(title, picture));
      fit();
    },
    point: () => {},
    open: () => {},
    selected: () => null, // it has no numbers of a pass
    address: () => null,
    leave: () => observer.disconnect(),
  };
}

/** Whether a moment shows a slide, and no pass. */
export const isSlide = moment => moment?.picture?.kind === "slide";

/** The small picture of a slide in a list: its image, or what it says first. */
export function drawSlideThumbnail({ title = "", text = "", items = [], image = "" }) {
  const said = title || text || items[0] || "";
  return h(
    "span",
    { class: "small-picture of-slide", "aria-hidden": "true" },
    image ? h("img", { src: image, alt: "" }) : said.slice(0, 80),
  );
}
