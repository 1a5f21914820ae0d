// The words of the view `draft`, and the service's reasons in Japanese.

import { addWords, currentLanguage } from "../i18n.js";

addWords({
  en: {
    draft: "Check a draft", draftLine: "Does each cited paper say what your draft says of it? Words tell well whether it speaks of it, poorly whether it says the opposite in other words: read the passages before you trust a verdict. Nothing that the draft names is opened.",
    draftText: "Your draft, or some sentences of it with their citations", draftPlaceholder: "Notebooks keep code and prose together (Hamrick et al., 2019).", draftFile: "Or drop a file here, or choose one (.md, .tex, .docx, .txt):", draftBib: "Bibliography, where the draft cites keys (.bib, CSL JSON):",
    draftGo: "Check it", draftChecking: "Reading the cited papers …", draftEmpty: "Paste some text or choose a file first.", draftWord: (name) => `Word file: ${name}`,
    draftUnknown: (name) => `${name} is no draft that can be read. Known are .md, .tex, .docx and .txt.`, draftLarge: (name) => `${name} is too large for this page. Check it chapter by chapter, or by the command monjyu check-citations.`,
    draftCount: (total, sentences) => `${total} ${total === 1 ? "citation" : "citations"} in ${sentences} ${sentences === 1 ? "sentence" : "sentences"}`, draftHint: "The worst comes first.",
    draftFor: "What the paper says", draftAgainst: "What speaks against it", draftNearest: "The nearest passages of the paper", draftClaim: "Said of this paper:", draftModel: "Judged by the model.", draftOpen: "Show it", draftOpenAt: (title, place) => `Show the place in ${title}: ${place}`,
    draft_supported: "Supported", draft_partly: "Only partly", draft_not_found: "Not found", draft_contradicted: "Contradicted", draft_not_in_collection: "Not in the collection", draft_not_resolved: "Citation not resolved", draft_not_checked: "Not checked",
    draftOffer: "Check the citations of a whole draft",
  },
  ja: {
    draft: "原稿の引用を確認", draftLine: "引用した論文は、原稿に書いたとおりのことを述べていますか。論文がその話題に触れているかはよくわかりますが、別の言葉で逆のことを述べているかはあまり見分けられません。信用する前に該当箇所を読んでください。原稿に書かれたファイルやアドレスは開きません。",
    draftText: "原稿、またはその一部の文(引用を含めて)", draftPlaceholder: "ノートブックはコードと文章を一つにまとめる (Hamrick et al., 2019)。", draftFile: "ファイルをここにドロップするか、選んでください (.md, .tex, .docx, .txt):", draftBib: "原稿が文献キーで引用する場合の文献ファイル (.bib, CSL JSON):",
    draftGo: "確認する", draftChecking: "引用された論文を読んでいます …", draftEmpty: "先に文章を貼り付けるか、ファイルを選んでください。", draftWord: (name) => `Word ファイル: ${name}`,
    draftUnknown: (name) => `${name} は読めない形式です。.md、.tex、.docx、.txt を使ってください。`, draftLarge: (name) => `${name} はこのページには大きすぎます。章ごとに確認するか、コマンド monjyu check-citations を使ってください。`,
    draftCount: (total, sentences) => `${sentences} 文に ${total} 件の引用`, draftHint: "問題のあるものから順に並んでいます。",
    draftFor: "論文の記述", draftAgainst: "反対する記述", draftNearest: "論文の最も近い箇所", draftClaim: "この論文について:", draftModel: "モデルによる判定です。", draftOpen: "表示", draftOpenAt: (title, place) => `${title} の該当箇所を表示: ${place}`,
    draft_supported: "裏付けあり", draft_partly: "一部のみ", draft_not_found: "見つからない", draft_contradicted: "矛盾", draft_not_in_collection: "コレクションにない", draft_not_resolved: "文献を特定できない", draft_not_checked: "未確認",
    draftOffer: "原稿全体の引用を確認する",
  },
});

const REASONS = [
  ["nowhere in the paper: ", "論文のどこにもない: "], ["not in the source: ", "近い箇所にない: "], ["figure not in the source: ", "近い箇所にない数値: "], ["name not in the source: ", "近い箇所にない名前: "],
  ["figures belong to something else in the source", "論文では数値が別のものを指す"], ["a name belongs to something else in the source", "論文では名前が別のものを指す"], ["the source says the opposite of: ", "論文では逆: "],
  ["claims more than the source: ", "論文より強い主張: "], ["negated here or there only", "一方だけが否定している"], ["the nearest sentences go the other way", "最も近い文は逆の方向を述べる"], ["the paper has no text to compare, or the sentence says nothing", "比べる文がない"],
  ["No sentence of the draft cites anything in a way that is understood.", "理解できる引用のある文がありません。"], ["The draft cites keys: give its .bib file.", "原稿は文献キーで引用しています。.bib ファイルを指定してください。"],
];

// A reason of the service in the page's language; the paper's own words in it stay.
export function reason(text) {
  const known = currentLanguage() === "ja" ? REASONS.find(([english]) => text.startsWith(english)) : null;
  return known ? known[1] + text.slice(known[0].length) : text;
}
