// The words of the view `operate`.
export const words = {
  en: {
    opOnlyAdmins: "This is for administrators. Use the key of one.", opCollections: "Collections", opLevel: "Level", opPapers: "Papers", opFresh: "State", opCurrent: "up to date", opBehind: "behind",
    opCost: "Spent on models", opIndex: "Index now", opUpgrade: "Upgrade", opSure: (name, level, calls, cost) => `Bring ${name} to level ${level}? About ${calls} calls of models, $${cost}.`,
    opBegun: "Begun; it appears among the runs.", opRuns: "Last runs", opChecks: "Checks", opPassed: "passed", opFailed: "failed", opDagster: "Open Dagster",
    opKeys: "Keys", opName: "Name", opRole: "Role", opEnds: "Ends (30d, 2030-12-31)", opCreate: "Create a key", opOnce: "Copy it now: it is not shown again.", opRevoke: "Revoke", opRevokeSure: (name) => `Revoke the key ${name}?`, opNever: "no end",
    opSnapshots: "Snapshots", opServe: "Serve this one", opServeSure: (id) => `Serve ${id} until it is released?`, opRelease: "Serve the newest again", opServed: "served",
  },
  ja: {
    opOnlyAdmins: "管理者のための画面です。管理者のキーを使ってください。", opCollections: "コレクション", opLevel: "レベル", opPapers: "論文", opFresh: "状態", opCurrent: "最新", opBehind: "更新待ち",
    opCost: "モデルの費用", opIndex: "今すぐ索引", opUpgrade: "レベルを上げる", opSure: (name, level, calls, cost) => `${name} をレベル ${level} にしますか。モデル呼び出し約 ${calls} 回、$${cost} です。`,
    opBegun: "開始しました。実行の一覧に表示されます。", opRuns: "最近の実行", opChecks: "検査", opPassed: "合格", opFailed: "不合格", opDagster: "Dagster を開く",
    opKeys: "キー", opName: "名前", opRole: "役割", opEnds: "期限（30d、2030-12-31）", opCreate: "キーを作る", opOnce: "今コピーしてください。再び表示されません。", opRevoke: "取り消す", opRevokeSure: (name) => `キー ${name} を取り消しますか。`, opNever: "期限なし",
    opSnapshots: "スナップショット", opServe: "これを提供", opServeSure: (id) => `解除するまで ${id} を提供しますか。`, opRelease: "最新に戻す", opServed: "提供中",
  },
};
