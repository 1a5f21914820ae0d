// The words of the view `start`.
export const words = {
  en: {
    startTitle: "No papers yet", startWhy: "Monjyu answers questions from your own papers, and shows the sentence and the page for everything it says. First it has to read them.",
    startSamples: "Try it with nine sample papers", startBring: "Bring in the samples", startWorking: "The samples are being read. They appear here by themselves.",
    startCommands: "Or in a terminal, in the folder of the program:", startOwn: "Your own papers", startCopy: "Copy", startCopied: "Copied.",
  },
  ja: {
    startTitle: "論文がまだありません", startWhy: "Monjyu はお手元の論文から質問に答え、すべての文について出典の文とページを示します。まず論文を読み込んでください。",
    startSamples: "見本の論文 9 件で試す", startBring: "見本を読み込む", startWorking: "見本を読み込んでいます。終わるとここに表示されます。",
    startCommands: "端末から行うには、プログラムのフォルダーで:", startOwn: "自分の論文", startCopy: "コピー", startCopied: "コピーしました。",
  },
};
