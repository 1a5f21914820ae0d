// The view `ask`: one conversation, which is there again when one comes back.

import { currentLanguage } from "../i18n.js";
import { Conversation } from "./conversation.js";

let conversation = null;
let language = null;
let wanted = null;

export function show(context) {
  conversation ??= new Conversation();
  if (language && language !== currentLanguage()) conversation.relabel();
  language = currentLanguage();
  conversation.choose(context.info);
  if (wanted) conversation.restrict(...wanted);
  wanted = null;
  return conversation.element;
}

export function arrived() {
  conversation.input.focus({ preventScroll: true });
}

// What the next question is restricted to, and what that is called: `{ paper_ids: [...] }`.
export function restrict(filters, label) {
  wanted = [filters, label];
}
