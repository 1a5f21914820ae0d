// Questions asked before and the conversation under way. Both stay in this browser: the questions until they are cleared,
// what was answered as long as the tab is there.

import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { addressOf, paramsOf } from "./asked.js";
import "./words.js";

const [QUESTIONS, TALK] = ["monjyu-questions", "monjyu-conversation"];
const [MOST_QUESTIONS, MOST_TURNS, MOST_LETTERS] = [50, 12, 2_000_000];

function read(store, name, fallback) {
  try {
    return JSON.parse(store.getItem(name)) ?? fallback;
  } catch {
    return fallback; // not ours, or cut short
  }
}

function write(store, name, value) {
  try {
    store.setItem(name, JSON.stringify(value));
  } catch {
    store.removeItem(name); // no room: nothing is better than a part
  }
}

function questions() {
  const found = read(localStorage, QUESTIONS, []);
  return Array.isArray(found) ? found.filter((one) => typeof one?.collection === "string" && typeof one?.asked?.query === "string") : [];
}

// The newest first, each once.
export function noteQuestion(collection, asked) {
  const mine = { collection, asked: { ...asked, snapshot: null }, at: Date.now() };
  const same = (one) => one.collection === collection && String(paramsOf(one.asked)) === String(paramsOf(mine.asked));
  write(localStorage, QUESTIONS, [mine, ...questions().filter((one) => !same(one))].slice(0, MOST_QUESTIONS));
}

export function keepTalk(collection, turns) {
  let kept = turns.filter((turn) => turn.result).slice(-MOST_TURNS).map(({ asked, alone, result }) => ({ asked, alone, result }));
  while (kept.length && JSON.stringify(kept).length > MOST_LETTERS) kept = kept.slice(1);
  write(sessionStorage, TALK, { collection, turns: kept });
}

export function keptTalk() {
  const found = read(sessionStorage, TALK, null);
  return Array.isArray(found?.turns) ? found : null;
}

export function forgetTalk() {
  sessionStorage.removeItem(TALK);
}

// The list of one's own questions to this collection, each an address that asks it again.
function pastQuestions(collection, redraw) {
  const mine = questions().filter((one) => one.collection === collection);
  if (!mine.length) return null;
  const clear = () => {
    write(localStorage, QUESTIONS, questions().filter((one) => one.collection !== collection));
    redraw();
    document.getElementById("question")?.focus();
  };
  const when = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" });
  return h("details", { class: "past" }, h("summary", {}, t("past", mine.length)),
    h("ol", {}, mine.map((one) => h("li", {}, h("a", { href: addressOf(collection, one.asked) }, quoted(one.asked.query)),
      h("span", { class: "dim" }, ` ${t(`mode_${one.asked.mode}`)} · ${when.format(one.at)}`)))),
    h("p", { class: "dim" }, t("pastHere"), " ", h("button", { type: "button", class: "small", onclick: clear }, t("pastClear"))));
}

export function showPast(place, collection) {
  replace(place, pastQuestions(collection, () => showPast(place, collection)));
}
