// The view `ask`: one conversation, which is there again when one comes back.

import { isEditor } from "../api.js";
import { currentLanguage } from "../i18n.js";
import { Conversation } from "./conversation.js";

let conversation = null;
let language = null;
let wanted = null;
let address = null;
let lastMarker = null;
let led = false;

export function show(context) {
  conversation ??= new Conversation();
  const first = !conversation.info;
  conversation.choose(context.info);
  [conversation.editor, conversation.signal] = [isEditor(context.who), context.signal];
  if (first) conversation.restore(context.params);
  if (language && language !== currentLanguage()) conversation.relabel();
  language = currentLanguage();
  led = Boolean(wanted);
  if (wanted) conversation.restrict(...wanted);
  wanted = null;
  address = context.params;
  return conversation.element;
}

// Who chooses a collection and asks at once asks that one.
export function chosen(info) {
  conversation?.choose(info);
}

export function arrived() {
  if (matchMedia("(min-width: 38rem)").matches) conversation.input.focus({ preventScroll: true }); // a telephone would show its keyboard
  if (led) conversation.lead(); // past the answers, to what is asked of
  led = false;
  conversation.askOf(address);
}

// n and p open the next and the previous citation of the answer that was read last.
document.addEventListener("keydown", (event) => {
  if (!["n", "p"].includes(event.key) || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog") || !conversation?.element.isConnected) return;
  const markers = [...conversation.element.querySelectorAll(".marker")];
  if (!markers.length) return;
  const at = markers.indexOf(lastMarker);
  lastMarker = markers[(at + (event.key === "n" ? 1 : markers.length - (at < 0 ? 0 : 1))) % markers.length];
  lastMarker.scrollIntoView({ block: "nearest" });
  lastMarker.click();
});
document.addEventListener("click", (event) => {
  lastMarker = event.target.closest?.(".marker") ?? lastMarker;
});

// What the next question is restricted to, and what that is called: `{ paper_ids: [...] }`.
export function restrict(filters, label) {
  wanted = [filters, label];
}
