// Which view is shown for an address, and the bar above it.
//
// Addresses are `#/VIEW/COLLECTION/...?name=value`. A view is a module whose `show(context, ...rest)` gives (a promise
// of) its element; it is fetched when it is first shown. `chosen(info)`, where it has that, hears of another collection
// at once, before its address is shown. `context` has: `name` and `info` of the collection chosen,
// `collections`, `who` (role, collections), `params` of the address, `signal` (aborted when the view is left),
// `go(view, ...rest)`, `ask(filters, label)`, `refresh()` (look for new collections), `again()` (the view anew),
// `enterKey()`.

import { ApiError, hasKey, json, keepKey, onKeyNeeded, openSession } from "./api.js";
import { coded, h, replace } from "./dom.js";
import { currentLanguage, setLanguage, t } from "./i18n.js";
import { offerPlaces } from "./locate/offer.js";
import { closeViewer } from "./paper/viewer.js";
import { learn } from "./said.js";

const main = document.getElementById("main");
const chosen = document.getElementById("collection");
const THEMES = ["auto", "light", "dark"];
const VIEWS = {
  ask: { nav: "ask", load: () => import("./ask/view.js") },
  papers: { nav: "papers", load: () => import("./library/view.js") },
  paper: { nav: "papers", load: () => import("./paper/view.js") },
  maps: { nav: "maps", load: () => import("./maps/view.js") },
  themes: { nav: "themes", load: () => import("./themes/view.js") },
  tensions: { nav: "themes", load: () => import("./tensions/view.js") },
  compare: { nav: "compare", load: () => import("./compare/view.js") },
  questions: { nav: "questions", load: () => import("./saved/view.js") },
  locate: { nav: "locate", load: () => import("./locate/view.js") },
  reviews: { nav: "reviews", load: () => import("./reviews/view.js") },
  draft: { nav: "draft", load: () => import("./draft/view.js") },
  operate: { nav: "operate", load: () => import("./operate/view.js"), without: true },
  start: { load: () => import("./start/view.js"), without: true },
};
let collections = [];
let who = { role: "reader" };
let left = new AbortController();
let shownView = null;

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
  replace(document.getElementById("key-hint"), coded(t("keyHint")));
  const other = document.getElementById("language");
  other.textContent = language === "ja" ? "English" : "日本語";
  other.lang = language === "ja" ? "en" : "ja";
}

function askKey() {
  showKey(true);
  const dialog = document.getElementById("key-dialog");
  const value = document.getElementById("key-value");
  value.value = "";
  dialog.returnValue = "";
  if (!dialog.open) dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok" ? value.value.trim() : null), { once: true }));
}

async function enterKey() {
  const given = await askKey();
  if (given === null) return;
  keepKey(given);
  const top = scrollY;
  await safely(start);
  scrollTo(0, top); // what the key allows is where one asked for it
}

// The button is there once a key was asked for: most services need none.
function showKey(needed) {
  document.getElementById("key").hidden = !needed;
}

// The parts of the address: the view, the collection, what is left, and the named values.
function address() {
  const [, path, query = ""] = /^#?([^?]*)\??([^]*)$/.exec(location.hash);
  const [, view = "", name = "", ...rest] = path.split("/").map(decodeURIComponent);
  return { view: view in VIEWS ? view : "ask", name, rest, params: new URLSearchParams(query) };
}

export function addressOf(view, name, ...rest) {
  return `#/${[view, name, ...rest].filter((part) => part !== undefined && part !== "").map(encodeURIComponent).join("/")}`;
}

function mark(view) {
  for (const link of document.querySelectorAll(".bar a[id]")) {
    if (link.id === `nav-${VIEWS[view].nav}`) {
      link.setAttribute("aria-current", "page");
      link.scrollIntoView({ block: "nearest", inline: "center" }); // on a narrow page the bar is longer than the page
    } else link.removeAttribute("aria-current");
  }
}

async function show() {
  left.abort();
  const mine = (left = new AbortController());
  let { view, name, rest, params } = address();
  if (!collections.length && !VIEWS[view].without) view = "start";
  const info = collections.find((one) => one.collection === (name || stored("collection", ""))) ?? (name ? null : collections[0]);
  if (name && !info && !VIEWS[view].without) {
    if (chosen.value) lead(chosen.value);
    replace(main, unknown(view, name));
    shownView = null;
    return;
  }
  if (info) keepChosen(info.collection);
  mark(view);
  document.title = "Monjyu";
  main.setAttribute("aria-busy", "true");
  const waiting = setTimeout(() => mine === left && shownView !== view && replace(main, skeleton()), 150);
  try {
    const module = (VIEWS[view].module = await VIEWS[view].load());
    if (mine !== left) return; // a later address may have its module first
    const element = await module.show({ name: info?.collection, info, collections, who, params, signal: mine.signal, go, ask, refresh, again: () => safely(show), enterKey }, ...rest);
    if (mine !== left) return;
    replace(main, element);
    if (shownView !== view && view !== "ask") scrollTo(0, 0); // a long conversation left it further down
    shownView = view;
    const heading = main.querySelector("h1");
    if (heading && view !== "ask") document.title = `${heading.textContent} · Monjyu`;
    module.arrived?.(element);
  } finally {
    clearTimeout(waiting);
    if (mine === left) main.removeAttribute("aria-busy");
  }
}

// For an address with a collection that is not there (any more, or for this key): those that are.
function unknown(view, name) {
  const target = view === "paper" ? "papers" : view;
  document.title = "Monjyu";
  return h("div", { class: "column", role: "alert" }, h("h1", { tabindex: "-1" }, t("noCollection", name)), h("p", {}, t("thereAre")),
    h("ul", {}, collections.map((one) => h("li", {}, h("a", { href: addressOf(target, one.collection) }, one.collection), h("span", { class: "dim" }, ` ${t("count", one.papers)}`)))),
    h("p", { class: "dim" }, t("notSeen")), h("button", { type: "button", onclick: () => safely(start) }, t("again")));
}

function skeleton() {
  return h("div", { class: "column", role: "status", "aria-label": t("loading") },
    [40, 90, 75, 85, 60].map((width) => h("span", { class: `skeleton w${width}` })));
}

function keepChosen(name) {
  localStorage.setItem("monjyu-collection", name);
  if (chosen.value !== name) chosen.value = name;
  lead(name);
}

// The bar's links lead to the views of this collection.
function lead(name) {
  const inside = ["ask", "papers", "maps", "themes", "compare", "reviews", "draft", "questions", "locate"];
  for (const view of inside) document.getElementById(`nav-${view}`).href = addressOf(view, name);
}

function go(view, ...rest) {
  location.hash = addressOf(view, ...rest);
}

// To the question box, with what the question is restricted to: `{ paper_ids: [...] }` and the like.
async function ask(filters, label) {
  const { restrict } = await VIEWS.ask.load();
  closeViewer();
  restrict(filters, label);
  go("ask", chosen.value);
}

async function safely(work) {
  try {
    await work();
  } catch (error) {
    if (error.name === "AbortError") return;
    await learn(); // what the service said of it
    const unknown = error instanceof ApiError && error.status === 404 && location.hash.startsWith("#/paper/");
    replace(main, h("div", { class: "column", role: "alert" }, h("p", { class: "error" }, unknown ? t("noPaper") : coded(error.message)),
      h("button", { type: "button", onclick: () => safely(start) }, t("again"))));
  }
}

function offer() {
  chosen.hidden = collections.length < 1;
  document.body.classList.toggle("empty", !collections.length); // the views of a collection lead nowhere
  replace(chosen, collections.map((one) => h("option", { value: one.collection }, one.collection)));
  const kept = stored("collection", "");
  if (collections.some((one) => one.collection === kept)) chosen.value = kept;
  document.getElementById("nav-operate").hidden = who.role !== "admin";
}

// A collection that was indexed meanwhile is there when one comes back to the page. `quietly` leaves the view as it is.
async function refresh(quietly = false) {
  const found = (await json("/collections").catch(() => null))?.collections;
  if (!found || JSON.stringify(found) === JSON.stringify(collections)) return;
  const before = collections.length;
  collections = found;
  offer();
  if (!quietly && (!before || address().view !== "ask")) await safely(show);
}

// The link that `monjyu up` gives: its token is used up, and leaves the address at once.
async function openLink() {
  const token = /^#\/open\/([\w-]+)$/.exec(location.hash)?.[1];
  if (!token) return;
  history.replaceState(null, "", "#/ask");
  await openSession(token);
}

async function start() {
  await openLink();
  if (address().name) lead(address().name); // for who presses a link before the collections are known
  VIEWS[address().view].load().catch(() => null); // meanwhile; `show` hears of it where it fails
  [collections, who] = await Promise.all([json("/collections").then((found) => found.collections), json("/whoami"), learn()]);
  offer();
  await show();
}

chosen.addEventListener("change", () => {
  const { view } = address();
  localStorage.setItem("monjyu-collection", chosen.value);
  VIEWS[view].module?.chosen?.(collections.find((one) => one.collection === chosen.value));
  go(view === "paper" ? "papers" : view, chosen.value);
});
document.getElementById("language").addEventListener("click", () => {
  chooseLanguage(currentLanguage() === "ja" ? "en" : "ja");
  closeViewer();
  shownView = null;
  safely(async () => {
    await learn();
    await show();
  });
});
document.getElementById("theme").addEventListener("click", () => {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = stored("theme", "auto");
  setTheme(now === "auto" ? (dark ? "light" : "dark") : now === "light" ? "dark" : "light");
});
document.getElementById("key").addEventListener("click", enterKey);
// No submit button, or Enter in the field would press it: it stands before the other.
document.getElementById("key-cancel").addEventListener("click", () => document.getElementById("key-dialog").close("cancel"));
addEventListener("focus", () => refresh());
addEventListener("hashchange", async () => {
  closeViewer();
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close(); // they belong to the view that is left
  await safely(location.hash.startsWith("#/open/") ? start : show);
  if (!main.contains(document.activeElement)) main.focus({ preventScroll: true }); // unless the view chose a place
});
onKeyNeeded(askKey);
offerPlaces(() => chosen.value);
showKey(hasKey());
setTheme(THEMES.includes(stored("theme", "auto")) ? stored("theme", "auto") : "auto");
chooseLanguage(stored("language", navigator.language.startsWith("ja") ? "ja" : "en"));
safely(start);
