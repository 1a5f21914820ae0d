// Elements from names, properties and children. Text only ever becomes text nodes: nothing here reads HTML.

import { t } from "./i18n.js";

const TURNING = /[\u202a-\u202e\u2066-\u2069]/g; // characters that turn round the text after them

function straight(text) {
  return String(text).replace(TURNING, "");
}

function nodes(children) {
  const there = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  return there.map((child) => (child instanceof Node ? child : straight(child)));
}

export function h(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value === true ? "" : straight(value));
  }
  element.append(...nodes(children));
  return element;
}

export function replace(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

// A paper's words among ours: whichever way they run, those around them stay where they are.
export function quoted(text) {
  return h("bdi", {}, text ?? "");
}

// Words of ours with commands between grave accents, which stand as code.
export function coded(text) {
  return String(text).split(/`([^`]+)`/).map((part, place) => (place % 2 ? h("code", {}, part) : part));
}

export function say(text) {
  document.getElementById("said").textContent = straight(text);
}

// To the clipboard; `place` says how it went. Browsers have none for a page that came from elsewhere without TLS.
export async function copy(text, place) {
  const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
  const word = t(done ? "copied" : "notCopied");
  replace(place, word);
  say(word);
}

// What the service answers as a file; `failed` is shown what went wrong, and that it is there is said.
export async function saved(asked, name, failed) {
  failed.hidden = true;
  try {
    const address = URL.createObjectURL(await (await asked()).blob());
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    say(t("savedAs", name));
  } catch (error) {
    failed.hidden = false;
    replace(failed, error.message);
  }
}
