// What Streamlit calls for a part of a page that is an article, on every run, with the pieces of it.
import { mountArticle } from "./article.js";
import { onceGone } from "../seams/streamlit.js";

const articles = new WeakMap(); // root -> its article
const text = new TextDecoder();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".article");
  const article = articles.get(root) ?? mountArticle(root, setTriggerValue);
  articles.set(root, article);
  article.given(JSON.parse(text.decode(data)).pieces);
  return onceGone(root, () => {
    if (articles.delete(root)) article.end();
  });
}
