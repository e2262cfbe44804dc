import type { NestedCommand, ProgramClassifier, ProgramTable } from './program.ts'
import { createFinding, READS } from './program.ts'

/** Tests whose value is a pattern or a number, not a file to read. */
const TEXT_TESTS =
  /^-(?:i?name|i?path|i?wholename|i?regex|i?lname|type|xtype|perm|size|[acm](?:time|min)|user|group|uid|gid|maxdepth|mindepth|printf|links|inum|fstype|regextype|used|context)$/
/** Tests with a file to compare with, and words without a value that change nothing. */
const HARMLESS =
  /^-(?:newer(?:[aBcm][aBcmt])?|[ac]newer|samefile|files0-from|print0?|ls|prune|quit|depth|d|mount|xdev|x|daystart|follow|noleaf|nowarn|warn|ignore_readdir_race|noignore_readdir_race|empty|executable|readable|writable|nouser|nogroup|true|false|not|a|and|o|or|H|L|P|E|X|s|O[0-3]|\d.*)$/
const RUNS = /^-(?:exec|execdir|ok|okdir)$/

/** Searches; runs or deletes if its expression says so. An unknown word may write. */
const find: ProgramClassifier = ({ args }) => {
  const [findings, runs, paths] = [[...READS.findings], [] as NestedCommand[], [] as string[]]
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? ''
    if (TEXT_TESTS.test(arg)) index++
    else if (arg === '-delete') findings.push(createFinding('destructive'))
    else if (RUNS.test(arg)) {
      const end = args.findIndex(
        (word, at) => at > index && (word === ';' || (word === '+' && args[at - 1] === '{}')),
      )
      const command = args.slice(index + 1, end === -1 ? args.length : end)
      // Each match replaces the braces, wherever they stand.
      runs.push({ argv: command.map((word) => word.replaceAll('{}', '\0')) })
      if (/^-ok/.test(arg)) findings.push(createFinding('interactive'))
      index += command.length + 1
    } else {
      if (/^-./.test(arg) && !HARMLESS.test(arg)) {
        findings.push(createFinding('mutating', `has ${arg}, which is not known to only read`))
      }
      paths.push(arg)
    }
  }
  return { findings, runs, paths }
}

export const searches: ProgramTable = { find, gfind: find }
