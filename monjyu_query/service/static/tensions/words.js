// Words of the tensions.

import { addWords } from "../i18n.js";

addWords({
  en: {
    tensions: "Where papers disagree", tensions_line: "Where papers say what does not go together. Rules found the pairs: read both quotes before you call it a contradiction.",
    tensions_find: "About which words", tensions_show: "Show", tensions_none_of: (words) => `Nothing of “${words}” is said here in two ways that do not go together.`, tensions_all: "Show all", tensions_none: "No papers were found to contradict each other here.",
    tensions_count: (shown, total) => (shown === total ? (total === 1 ? "1 pair" : `${total} pairs`) : `${shown} of ${total} pairs`),
    tensions_direction: "opposite directions", tensions_negation: "one denies the other", tensions_numbers: "numbers that lie apart",
    tensions_level: (level) => `This collection is at level ${level}. Tensions come with level 4, which needs no model. Whoever runs this service can build it:`,
    tensions_before: "This collection was indexed before tensions were looked for. They come with its next indexing, which whoever runs this service can begin:",
  },
  ja: {
    tensions: "論文の食い違い", tensions_line: "論文の記述が両立しない箇所です。規則で見つけたものなので、矛盾と見なす前に両方の引用を読んでください。",
    tensions_find: "どの語について", tensions_show: "表示", tensions_none_of: (words) => `「${words}」についての食い違いは見つかりませんでした。`, tensions_all: "すべて表示", tensions_none: "ここでは、互いに矛盾する論文は見つかりませんでした。",
    tensions_count: (shown, total) => (shown === total ? `${total} 組` : `${total} 組のうち ${shown} 組`),
    tensions_direction: "逆の方向", tensions_negation: "一方が他方を否定", tensions_numbers: "離れた数値",
    tensions_level: (level) => `このコレクションはレベル ${level} です。食い違いはレベル 4 で見つかり、モデルは不要です。このサービスの運用者が次のコマンドで作れます:`,
    tensions_before: "このコレクションは、食い違いを探す前の版で索引付けされました。次の索引付けで見つかります。このサービスの運用者が次のコマンドで始められます:",
  },
});
