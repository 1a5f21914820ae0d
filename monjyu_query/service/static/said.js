// What the service says, in the language of the page. It speaks English; in Japanese its sentences are known by
// `messages_ja.js`, which is loaded for who reads Japanese. One that is not known stays as it was said.

import { currentLanguage } from "./i18n.js";

const DEEPEST = 6; // sentences after one another, or in one another
let known = [];

// To be waited for before what the service says is shown.
export async function learn() {
  if (currentLanguage() !== "ja" || known.length) return;
  const { MESSAGES } = await import("./messages_ja.js").catch(() => ({ MESSAGES: [] }));
  known = MESSAGES.map(([sentence, words]) => ({ pattern: patternOf(sentence), words, weight: sentence.replaceAll("{}", "").length })).sort((a, b) => b.weight - a.weight);
}

export function said(text) {
  return currentLanguage() === "ja" && known.length ? (translated(String(text), DEEPEST) ?? partly(String(text))) : text;
}

// `{}` stands for any value; other sentences may follow.
function patternOf(sentence) {
  const literal = sentence.split("{}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join("([^]+?)")}(?:\\s+([^]+))?$`);
}

// The whole in Japanese; null where a part of it is not known.
function translated(text, deep) {
  if (!deep) return null;
  for (const { pattern, words } of known) {
    const found = pattern.exec(text);
    if (!found) continue;
    const rest = found.at(-1) === undefined ? "" : translated(found.at(-1), deep - 1);
    if (rest !== null) return worded(words, found, deep) + rest;
  }
  return null;
}

// What is known of the beginning; the rest as it was said.
function partly(text) {
  for (const { pattern, words } of known) {
    const found = pattern.exec(text);
    if (found) return `${worded(words, found, DEEPEST - 1)} ${found.at(-1) ?? ""}`.trim();
  }
  return text;
}

function worded(words, found, deep) {
  return words.replace(/\{(\d)\}/g, (_, n) => {
    const value = found[Number(n) + 1];
    return translated(value, deep - 1) ?? value.replace(/^'(.*)'$/, "「$1」");
  });
}
