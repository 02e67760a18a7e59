// Entry point of a file (or notebook cell) with all heads of a recording, and no layer number by number.
import { mountHeads } from "../heads/headGrid.js";

const at = selector => /** @type {HTMLElement} */ (document.querySelector(selector));
const data = JSON.parse(at("#heads").textContent ?? "");
at("h1").textContent = document.title;
at("#alone").textContent = data.about;
mountHeads(at(".all-layers"), data);
