// All heads of a recording in a file, or in a notebook's frame, without a layer number by number.
import { mountHeads } from "../heads/headGrid.js";

const at = selector => /** @type {HTMLElement} */ (document.querySelector(selector));
const data = JSON.parse(at("#heads").textContent ?? "");
at("h1").textContent = document.title;
at("#alone").textContent = data.about;
mountHeads(at(".all-layers"), data);
