// Words of the tensions.

import { addWords } from "../i18n.js";

addWords({
  en: {
    tensions: "Where papers disagree", tensions_line: "Where papers contradict each other. A model reads the statements of two papers that share most: read both quotes before you call it a contradiction.",
    tensions_find: "About which words", tensions_show: "Show", tensions_all: "Show all", tensions_none: (read) => `Of ${read} pairs of statements the model calls none contradictory.`,
    tensions_none_of: (words, read) => `Of ${read} pairs of statements about “${words}” the model calls none contradictory.`,
    tensions_count: (shown, total) => (shown === total ? (total === 1 ? "1 pair" : `${total} pairs`) : `${shown} of ${total} pairs`),
  },
  ja: {
    tensions: "論文の食い違い", tensions_line: "論文どうしが矛盾する箇所です。二つの論文の最も似た記述をモデルが読んで判断したものなので、矛盾と見なす前に両方の引用を読んでください。",
    tensions_find: "どの語について", tensions_show: "表示", tensions_all: "すべて表示", tensions_none: (read) => `${read} 組の記述に、モデルが矛盾とするものはありません。`,
    tensions_none_of: (words, read) => `「${words}」についての ${read} 組の記述に、モデルが矛盾とするものはありません。`,
    tensions_count: (shown, total) => (shown === total ? `${total} 組` : `${total} 組のうち ${shown} 組`),
  },
});
