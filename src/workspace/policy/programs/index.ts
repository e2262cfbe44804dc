/**
 * Effects of programs, one table for each domain. A program is a pure function from its arguments to an effect.
 * It parses no shell and knows no rules: the classifier handles the commands that it runs in turn.
 * Invariant: a name that is in no table is never read-only, nor is an option that no table has.
 */
import type { Category, Finding } from '../category.ts'
import { isLiteral } from '../shell/unknown.ts'
import { build } from './build.ts'
import { builtins } from './builtins.ts'
import { editors } from './editors.ts'
import { files } from './files.ts'
import { searches } from './find.ts'
import { versionControl } from './git.ts'
import { interpreters } from './interpreters.ts'
import { NameIndex } from './name-index.ts'
import { network } from './network.ts'
import { packages } from './packages.ts'
import { createFinding, type ProgramClassifier, type ProgramTable } from './program.ts'
import { isAboutItself, withQueries } from './queries.ts'
import { readOnlyOptions } from './read-only-options.ts'
import { readers } from './readers.ts'
import { streamEditors } from './stream-editors.ts'
import { system } from './system.ts'
import { wrappers } from './wrappers.ts'

export { findCarriedCommands } from './carried-commands.ts'
export {
  createFinding,
  createUnseenFindings,
  isStream,
  type NestedCommand,
  type ProgramClassifier,
} from './program.ts'

/** Programs whose tables check their own options. */
const OWN_OPTIONS: ReadonlySet<string> = new Set(['git', 'find', 'gfind'])

const tables: readonly ProgramTable[] = [
  readers,
  builtins,
  build,
  files,
  searches,
  streamEditors,
  packages,
  versionControl,
  network,
  interpreters,
  system,
  editors,
  wrappers,
]
const indexes = new Map(tables.map((table) => [table, new NameIndex(Object.entries(table))]))

function findIn(table: ProgramTable, name: string): ProgramClassifier | undefined {
  return indexes.get(table)?.get(name)
}

/** Wraps a program so that it only reads if all its options are known to. Git and find check their own. */
function withKnownOptions(name: string, program: ProgramClassifier): ProgramClassifier {
  if (OWN_OPTIONS.has(name)) return program
  return (call) => readOnlyOptions.checkOptions(name, call.args, program(call))
}

/** Programs that read, or run only commands that are classified as parts of their own. */
const readingTables: readonly ProgramTable[] = [readers, builtins, searches, streamEditors, wrappers]
const CHANGE_DIRECTORY: readonly string[] = ['cd', 'pushd', 'chdir']
const IN_WORKSPACE: ReadonlySet<Category> = new Set(['read_only', 'mutating', 'destructive'])

/**
 * Reports, by its findings, whether a call runs no code of the workspace and reaches no network itself.
 * Version control and package managers do not qualify: settings in the workspace may make them run other programs.
 */
export function isInertCall(name: string, args: readonly string[], findings: readonly Finding[]): boolean {
  if (isIn([files], name)) {
    return args.every(isLiteral) && findings.every(({ category }) => IN_WORKSPACE.has(category))
  }
  const isReading = isIn(readingTables, name) || CHANGE_DIRECTORY.includes(name) || isAboutItself(args)
  return isReading && findings.every(({ category }) => category === 'read_only')
}

function isIn(tablesOfKind: readonly ProgramTable[], name: string): boolean {
  return tablesOfKind.some((table) => findIn(table, name) !== undefined)
}

/** Programs of which several versions are installed side by side: `python3.12`, `gcc-13`. */
const versionedTables: readonly ProgramTable[] = [build, interpreters, packages]

/** Limit on the length of a program's name. */
const LONGEST_NAME = 64

/**
 * Finds a program by its name; also in capitals, which some disks treat as the same, with a version, or with GNU's
 * prefix: `gsort`. Such a name may belong to another program, so it never only reads.
 */
export function findProgram(name: string): ProgramClassifier | undefined {
  const known = findExactProgram(name)
  if (known !== undefined || name.length > LONGEST_NAME) return known
  const lower = name.toLowerCase()
  const plain = lower.replace(/(?:\.exe)?$|[-.]?\d+(?:\.\d+)*$/, '')
  const candidates = plain.startsWith('g') ? [plain, plain.slice(1)] : [plain]
  const similar = candidates.find((candidate) => isIn(tables, candidate))
  const found = similar === undefined ? undefined : findExactProgram(similar)
  if (similar === undefined || found === undefined) return undefined
  if (name === lower && isIn(versionedTables, similar)) return found
  return (call) => {
    const effect = found(call)
    return { ...effect, findings: [...effect.findings, LOOKALIKE] }
  }
}

/** Programs that were looked up. A map of all of them takes a start milliseconds. */
const foundPrograms = new Map<string, ProgramClassifier>()

/** Finds a program by its exact name. */
function findExactProgram(name: string): ProgramClassifier | undefined {
  const known = foundPrograms.get(name)
  if (known !== undefined) return known
  const table = tables.findLast((candidate) => isIn([candidate], name))
  const program = table && findIn(table, name)
  if (program === undefined) return undefined
  const found = withQueries(name, withKnownOptions(name, program))
  foundPrograms.set(name, found)
  return found
}

const LOOKALIKE = createFinding('mutating', 'has almost the name of a program that policy knows')
