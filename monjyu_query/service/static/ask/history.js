// Questions asked before, with their answers, and the conversation under way. All of it stays in this browser: questions and
// answers until they are cleared, the conversation as long as the tab is there.

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

// The newest first, each once; the newest with their answers, as far as there is room. An answer that hangs on what was
// said before is kept with its conversation only.
export function noteQuestion(collection, asked, result = null) {
  const mine = { collection, asked: { ...asked, snapshot: null }, at: Date.now(), result };
  const others = questions().filter((one) => !isSame(one, collection, mine.asked));
  let room = MOST_LETTERS;
  const kept = [mine, ...others].slice(0, MOST_QUESTIONS).map((one) => {
    room -= one.result ? JSON.stringify(one.result).length : 0;
    return room < 0 ? { ...one, result: null } : one;
  });
  write(localStorage, QUESTIONS, kept);
}

function isSame(one, collection, asked) {
  return one.collection === collection && String(paramsOf(one.asked)) === String(paramsOf(asked));
}

// The answer to a question that was asked of the present papers; null where there is none.
export function keptAnswer(info, asked) {
  const found = questions().find((one) => one.result && isSame(one, info.collection, { ...asked, snapshot: null }));
  return found && found.result.snapshot_id === (asked.snapshot ?? info.snapshot_id) ? found.result : null;
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
