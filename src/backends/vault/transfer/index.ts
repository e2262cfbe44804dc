/**
 * Import and export of a directory of this machine, and send and receive of a vault between homes. Invariant: no link
 * of the machine is followed, except in the path of the named directory.
 */
export { assertNotHome, type ExportOptions, type ExportReport, exportVault } from './export.ts'
export { importDirectory } from './import.ts'
export type { ImportOptions, ImportReport, Skipped } from './import-report.ts'
export type { TransferProgress } from './progress.ts'
export { type ReceiveOptions, type ReceiveReport, receiveVault } from './receive.ts'
export { type SalvageOptions, type SalvageReport, salvageVault } from './salvage.ts'
export { type SendOptions, sendVault } from './send.ts'
