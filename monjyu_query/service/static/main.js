// What is shown for an address, and the bar above it.

import { ApiError, hasKey, json, keepKey, onKeyNeeded } from "./api.js";
import { Conversation } from "./ask.js";
import { h, replace } from "./dom.js";
import { currentLanguage, setLanguage, t } from "./i18n.js";
import { paperList, paperPage } from "./papers.js";
import { studyTable } from "./table.js";
import { closeViewer } from "./viewer.js";

const main = document.getElementById("main");
const THEMES = ["auto", "light", "dark"];
let collections = [];
let conversation = null;
let afterwards = null;

function stored(name, fallback) {
  return localStorage.getItem(`monjyu-${name}`) ?? fallback;
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("monjyu-theme", theme);
}

function chooseLanguage(language) {
  setLanguage(language);
  localStorage.setItem("monjyu-language", language);
  const other = document.getElementById("language");
  other.textContent = language === "ja" ? "English" : "日本語";
  other.lang = language === "ja" ? "en" : "ja";
}

function askKey() {
  showKey(true);
  const dialog = document.getElementById("key-dialog");
  const value = document.getElementById("key-value");
  value.value = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? value.value.trim() : null), { once: true }));
}

// The button is there once a key was asked for: most services need none.
function showKey(needed) {
  document.getElementById("key").hidden = !needed;
}

function mark(id, here) {
  if (here) document.getElementById(id).setAttribute("aria-current", "page");
  else document.getElementById(id).removeAttribute("aria-current");
}

async function show() {
  const [, view = "ask", collection, paper] = location.hash.split("/").map(decodeURIComponent);
  mark("nav-ask", view === "ask");
  mark("nav-papers", view === "papers" || view === "paper");
  mark("nav-table", view === "table");
  document.title = "Monjyu";
  if (!collections.length) {
    replace(main, h("p", { class: "column" }, t("nothing")));
  } else if (view === "paper" && paper) {
    replace(main, await paperPage(collection, paper, askThis));
    const heading = main.querySelector("h1");
    document.title = `${heading.textContent} · Monjyu`;
    heading.focus({ preventScroll: true });
    scrollTo(0, 0);
  } else if (view === "papers") {
    replace(main, paperList(collections, collection || collections[0].collection, (name) => (location.hash = `#/papers/${encodeURIComponent(name)}`)));
  } else if (view === "table") {
    replace(main, studyTable(collections, collection || collections[0].collection, (name) => (location.hash = `#/table/${encodeURIComponent(name)}`)));
    document.title = `${t("table")} · Monjyu`;
  } else {
    conversation ??= new Conversation(collections);
    replace(main, conversation.element);
  }
}

function askThis(paper, collection) {
  closeViewer();
  conversation ??= new Conversation(collections);
  afterwards = () => {
    conversation.restrict(paper, collection);
    conversation.input.focus();
  };
  location.hash = "#/ask";
}

async function safely(work) {
  try {
    await work();
  } catch (error) {
    const unknown = error instanceof ApiError && error.status === 404 && location.hash.startsWith("#/paper");
    replace(main, h("div", { class: "column", role: "alert" }, h("p", { class: "error" }, unknown ? t("noPaper") : error.message),
      h("button", { type: "button", onclick: () => safely(start) }, t("again"))));
  }
}

// A collection that was indexed meanwhile is there when one comes back to the page.
async function refresh() {
  const found = (await json("/collections").catch(() => null))?.collections;
  if (!found || JSON.stringify(found) === JSON.stringify(collections)) return;
  const before = collections.length;
  collections = found;
  conversation?.offer(collections);
  if (!before || location.hash.startsWith("#/papers")) await safely(show);
}

async function start() {
  collections = (await json("/collections")).collections;
  await show();
}

document.getElementById("language").addEventListener("click", () => {
  chooseLanguage(currentLanguage() === "ja" ? "en" : "ja");
  conversation?.relabel();
  closeViewer();
  safely(show);
});
document.getElementById("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = stored("theme", "auto");
  setTheme(now === "auto" ? (dark ? "light" : "dark") : now === "light" ? "dark" : "light");
});
document.getElementById("key").addEventListener("click", async () => {
  const given = await askKey();
  if (given !== null) {
    keepKey(given);
    safely(start);
  }
});
addEventListener("focus", refresh);
addEventListener("hashchange", async () => {
  closeViewer();
  await safely(show);
  if (afterwards) afterwards();
  else if (!location.hash.startsWith("#/paper/")) main.focus({ preventScroll: true }); // a paper focuses its title
  afterwards = null;
});
onKeyNeeded(askKey);
showKey(hasKey());
setTheme(THEMES.includes(stored("theme", "auto")) ? stored("theme", "auto") : "auto");
chooseLanguage(stored("language", navigator.language.startsWith("ja") ? "ja" : "en"));
safely(start);
