// The handout: a lesson or a talk on paper, three moments a page, each with its picture, what is asked and right, and room for notes.
import { element } from "../elements/element.js";
import { drawSaid } from "./said.js";
import { verdictOn } from "./verdict.js";

const A4 = "@page { size: A4 portrait; margin: 12mm; }";
const INERT = { point: () => {}, open: () => {} };
const ON_A_PAGE = 3;
const LARGEST = 8.5,
  SMALLEST = 6,
  STEP = 0.25; // points of what is said

// Puts it into `root` as the browser prints it, and away afterwards; makePictureOf(moment) makes an element that shows moments, as
// makePassPicture. Returns {print(title, moments), end()}.
export function makeHandout(window, root, makePictureOf) {
  const pages = element("div", "pages handout"),
    paper = new window.CSSStyleSheet(); // the styles of a shadow tree say nothing of pages
  let wanted = null,
    pictures = [];
  paper.replaceSync(A4);
  const before = () => {
    if (!wanted) return;
    root.append(pages);
    pictures = drawPages(pages, wanted, makePictureOf);
    window.document.adoptedStyleSheets.push(paper);
  };
  const after = () => {
    for (const each of pictures) each.leave();
    pictures = [];
    wanted = null;
    pages.replaceChildren();
    pages.remove();
    window.document.adoptedStyleSheets = window.document.adoptedStyleSheets.filter(each => each !== paper);
  };
  window.addEventListener("beforeprint", before);
  window.addEventListener("afterprint", after);
  return {
    print(title, moments) {
      wanted = { title, moments };
      window.print();
    },
    end() {
      window.removeEventListener("beforeprint", before);
      window.removeEventListener("afterprint", after);
      after();
    },
  };
}

// Draws all pages; returns the pictures on them. They are drawn as large as on a screen, and then made smaller (handout.css).
function drawPages(pages, { title, moments }, makePictureOf) {
  const pictures = [],
    count = Math.ceil(moments.length / ON_A_PAGE);
  pages.replaceChildren();
  for (let nth = 0; nth < count; nth += 1) {
    const page = element("section", "three"),
      head = element("header");
    head.append(element("strong", "", title), element("span", "", `Page ${nth + 1} of ${count}`));
    page.append(head);
    pages.append(page);
    for (const [place, moment] of moments.slice(nth * ON_A_PAGE, (nth + 1) * ON_A_PAGE).entries()) {
      const picture = makePictureOf(moment);
      page.append(drawMoment(moment, nth * ON_A_PAGE + place + 1, picture));
      picture.show(moment, false, false);
      fit(page.lastChild.lastChild);
      pictures.push(picture);
    }
  }
  pages.classList.add("drawn");
  return pictures;
}

// A long text has smaller letters, so that lines to write on are left.
function fit(said) {
  for (let size = LARGEST; size >= SMALLEST; size -= STEP) {
    said.style.fontSize = `${size}pt`;
    if (said.scrollHeight <= said.clientHeight) return;
  }
}

function drawMoment(moment, number, picture) {
  const { title, text, after, question, ending } = moment,
    box = element("article"),
    shown = element("div", "shown"),
    frame = element("div", "frame"),
    said = element("div", "said");
  shown.append(picture.element);
  frame.append(shown);
  said.append(
    element("h2", "", `${number}. ${title}`.trim()),
    ...[
      text,
      ...(question ? [question.prompt, ...verdictOn(question, null, after).said] : [after]),
      ...(ending ? [ending.explain] : []),
    ]
      .filter(runs => runs.length)
      .map(runs => drawSaid(runs, INERT)),
    element("div", "lines"),
  );
  box.append(frame, said);
  return box;
}
