// What Streamlit calls for a part of a page that is an article, on every run, with the pieces of it.
import { mountArticle } from "./article.js";

const articles = new WeakMap(); // root -> {article, data}: the article and what it was given last
const text = new TextDecoder();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".article");
  const article = articles.get(root)?.article ?? mountArticle(root, setTriggerValue);
  articles.set(root, { article, data });
  article.given(JSON.parse(text.decode(data)));
  return () => {
    if (articles.get(root)?.data !== data) return; // Streamlit ends a call that came late, too
    article.end();
    articles.delete(root);
  };
}
