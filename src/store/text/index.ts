/**
 * Texts as lists of lines: diff of two, merge of three. It knows nothing of files and vaults; the caller splits the
 * lines.
 * Invariant: time and memory are linear in the lines, up to a logarithm, whatever their content.
 */
export { diffLines, type LineChange } from './line-diff.ts'
export {
  digestSides,
  isText,
  type MergedText,
  mergeText,
  type SideNames,
  type TextSides,
} from './merge-text.ts'
