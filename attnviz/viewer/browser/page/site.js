// The site: what all its pages share. Each has what it shows as data in it, by whose kind it is drawn. ../../../site has the pages.
import { makePiece } from "../article/pieces.js";
import { element } from "../elements/element.js";
import { makeTemplates } from "../talk/templates.js";
import { hashOf } from "../seams/hash.js";
import { showLesson } from "./siteLesson.js";
import { showPass } from "./sitePass.js";

const KINDS = {
  lesson: showLesson,
  pass: (main, { pass }) => showPass(main, makeTemplates().whole({ pass }).pass, hashOf(window)),
  article: showArticle,
};

function showArticle(main, { pieces, doors }) {
  const box = element("div", "article");
  box.append(...pieces.map(each => makePiece(each, { open: door => window.location.assign(doors[door]) }).element));
  main.replaceChildren(box);
}

const given = JSON.parse(document.querySelector("#given").textContent);
KINDS[given.kind](document.querySelector("main"), given);
