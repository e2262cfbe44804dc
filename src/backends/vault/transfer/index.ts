/**
 * Trees on their way into a vault and out of it: a directory of this machine imported and exported, a vault sent to
 * another home as a stream and received. Invariant: no link of the machine is followed, but for the directory named.
 */
export { type ExportOptions, type ExportReport, exportVault } from './export.ts'
export { importDirectory } from './import.ts'
export type { ImportOptions, ImportReport, Skipped } from './import-report.ts'
export type { TransferProgress } from './progress.ts'
export { type ReceiveOptions, type ReceiveReport, receiveVault } from './receive.ts'
export { type SalvageOptions, type SalvageReport, salvageVault } from './salvage.ts'
export { type SendOptions, sendVault } from './send.ts'
