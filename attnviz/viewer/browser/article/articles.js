// The component of an article: Streamlit calls it on every run, with the pieces.
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
