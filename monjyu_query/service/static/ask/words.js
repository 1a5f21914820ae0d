// Words of answers and of the conversation.

import { addWords } from "../i18n.js";

addWords({
  en: {
    partialWhy: "The search ended before all was tested: there may be more. Ask again with a larger budget.",
    abstainedWhy: "The papers hold too little on this to answer honestly. Try other words, fewer filters, or another collection.",
    copyAnswer: "Copy with citations", copied: "Copied.", copyLink: "Copy the link", keepAnswer: "Save as Markdown", asPackage: "Package", saveAs: (name) => `Save as ${name}`,
    sure_high: "well supported", sure_some: "supported in part", sure_low: "weakly supported", confidence: (word) => `Confidence: ${word}`,
    foundSoFar: "Stopped. What was found so far stands above; ask again to go on: what was judged is kept.",
    etAl: (name) => `${name} et al.`, keysHint: "n and p lead to the next and the previous citation.",
  },
  ja: {
    partialWhy: "すべてを判定する前に終わりました。まだあるかもしれません。予算を増やしてもう一度質問してください。",
    abstainedWhy: "誠実に答えるには根拠が足りません。別の言葉、少ない絞り込み、または別のコレクションを試してください。",
    copyAnswer: "出典つきでコピー", copied: "コピーしました。", copyLink: "リンクをコピー", keepAnswer: "Markdown で保存", asPackage: "パッケージ", saveAs: (name) => `${name} で保存`,
    sure_high: "十分な根拠あり", sure_some: "一部に根拠あり", sure_low: "根拠は弱い", confidence: (word) => `確からしさ: ${word}`,
    foundSoFar: "中止しました。ここまでに見つかったものは上にあります。もう一度質問すると続きから始まります（判定は保存されています）。",
    etAl: (name) => `${name} ほか`, keysHint: "n と p で次と前の出典に移ります。",
  },
});
