/**
 * Texts as lists of lines: what changed between two, and three of them merged into one.
 * It knows nothing of files and vaults; whoever asks decides what a line is, and which ends it has.
 * Invariant: time and memory are in proportion to the lines, but for a logarithm, whatever the lines say.
 */
export { diffLines, type LineChange } from './line-diff.ts'
export { isText, type MergedText, mergeText, type SideNames } from './merge-text.ts'
