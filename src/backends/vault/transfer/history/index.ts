/**
 * Import and export of histories: states of a tree in order, each given by its changes since another. It knows
 * checkpoints and the journal, and no foreign history format. Invariant: an import that ends for any reason leaves the
 * vault at a whole step.
 */
export { exportHistory } from './export-history.ts'
export type {
  ExportedChange,
  ExportedStep,
  HistoryChange,
  HistoryOptions,
  HistoryStep,
  IncomingHistory,
} from './history-steps.ts'
export { importHistory } from './import-history.ts'
