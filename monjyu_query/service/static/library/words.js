// Words of the library.

import { addWords } from "../i18n.js";

addWords({
  en: {
    sortBy: "Sort by", sort_title: "Title", sort_year: "Year", sort_venue: "Venue", sort_author: "First author", sort_citations: "Citations here", sort_pages: "Pages",
    filters: "Filters", f_years: "Year", f_venue: "Venue", f_author: "Author", f_language: "Language", f_type: "Kind of file", f_tag: "Tag", f_shelf: "Shelf",
    onlyRetracted: "Only retracted", clearFilters: "Clear filters", noMatch: "No paper matches. Clear a filter.", from: "from", to: "to",
    selected: (n) => `${n} selected`, selectAll: (n) => `Select all found (${n} at most)`, selectNone: "Select none", choose: (title) => `Select ${title}`,
    askThese: "Ask these", compareThese: "Compare these", papersOf: (n) => `${n} papers`,
    problems: (n) => (n === 1 ? "1 file could not be read" : `${n} files could not be read`), comesFrom: "The papers come from: ",
  },
  ja: {
    sortBy: "並べ替え", sort_title: "題名", sort_year: "年", sort_venue: "掲載誌", sort_author: "筆頭著者", sort_citations: "ここでの被引用数", sort_pages: "ページ数",
    filters: "絞り込み", f_years: "年", f_venue: "掲載誌", f_author: "著者", f_language: "言語", f_type: "ファイルの種類", f_tag: "タグ", f_shelf: "棚",
    onlyRetracted: "撤回された論文だけ", clearFilters: "絞り込みを解除", noMatch: "該当する論文がありません。絞り込みを解除してください。", from: "から", to: "まで",
    selected: (n) => `${n} 件を選択中`, selectAll: (n) => `見つかったものをすべて選択（最大 ${n} 件）`, selectNone: "選択を解除", choose: (title) => `${title} を選択`,
    askThese: "選択した論文に質問", compareThese: "選択した論文を比較", papersOf: (n) => `${n} 件の論文`,
    problems: (n) => `読み取れなかったファイル ${n} 件`, comesFrom: "論文の出所: ",
  },
});
