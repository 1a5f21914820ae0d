// Words of the reader of a paper.

import { addWords } from "../i18n.js";

addWords({
  en: {
    readPages: "Read", outline: "Outline", findIn: "Find in this paper", foundIn: (n) => (n === 1 ? "1 sentence" : `${n} sentences`), origin: "What is known of it, and from where",
    from_file: "read from the file", from_derived: "worked out from the text", from_unknown: "not found", says: (name) => `${name} says`, readBy: (name) => `The file was read with ${name}. Values read from a file can be wrong.`,
    field_title: "Title", field_authors: "Authors", field_publication_date: "Date", field_venue: "Venue", field_doi: "DOI", field_abstract: "Abstract", field_language: "Language", field_keywords: "Keywords",
    summary: "Summary", summarize: "Summarize", claimsHere: (n) => `Claims (${n})`, entitiesHere: (n) => `What it speaks of (${n})`, figures: (n) => `Figures and tables (${n})`, showImage: "Show", similar: "Similar papers",
    caveats: "What went wrong when it was read", here: "in this collection", newTab: "opens a new tab", wrong: "Report a wrong field", whichField: "Field", rightValue: "What it should say", note: "Why (optional)", send_: "Send",
    countsLater: "It counts after the next indexing.", waits: "Corrections that wait for the next indexing", askEditor: "Something wrong here? Ask whoever runs this service: a key with the role editor may correct it.", notYet: "This service cannot take corrections yet.",
  },
  ja: {
    readPages: "読む", outline: "目次", findIn: "この論文の中を探す", foundIn: (n) => `${n} 文`, origin: "書誌情報とその出所",
    from_file: "ファイルから読み取り", from_derived: "本文から判定", from_unknown: "見つからず", says: (name) => `${name} による値`, readBy: (name) => `ファイルは ${name} で読み取りました。読み取った値には誤りがあり得ます。`,
    field_title: "題名", field_authors: "著者", field_publication_date: "日付", field_venue: "掲載誌", field_doi: "DOI", field_abstract: "要旨", field_language: "言語", field_keywords: "キーワード",
    summary: "要約", summarize: "要約する", claimsHere: (n) => `主張 (${n})`, entitiesHere: (n) => `扱っているもの (${n})`, figures: (n) => `図と表 (${n})`, showImage: "表示", similar: "似ている論文",
    caveats: "読み取り時の問題", here: "このコレクション内", newTab: "新しいタブで開きます", wrong: "誤りを報告", whichField: "項目", rightValue: "正しい値", note: "理由（任意）", send_: "送信",
    countsLater: "次の索引付けの後に反映されます。", waits: "次の索引付けを待つ訂正", askEditor: "誤りがあれば運用者に連絡してください。役割 editor のキーで訂正できます。", notYet: "このサービスはまだ訂正を受け付けていません。",
  },
});
