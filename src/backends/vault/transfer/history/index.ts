/**
 * Histories on their way into a vault and out of it: states of a tree in order, each as what changed since another.
 * It knows checkpoints and the journal, and nothing of what such a history is elsewhere.
 * Invariant: an import that ends for whatever reason leaves the vault at a whole step.
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
