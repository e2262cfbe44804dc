/**
 * What programs do, one table for each domain. A program is a pure function from its arguments to an effect.
 * It parses no shell and knows no rules: what it runs in turn is handed back to be judged.
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
import { network } from './network.ts'
import { packages } from './packages.ts'
import { createFinding, type ProgramClassifier } from './program.ts'
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

/** Programs whose tables know their options themselves. */
const OWN_OPTIONS: ReadonlySet<string> = new Set(['git', 'find', 'gfind'])

const programs: ReadonlyMap<string, ProgramClassifier> = new Map(
  [
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
  ].flatMap((table) =>
    Object.entries(table).map(([name, program]): [string, ProgramClassifier] => [
      name,
      withQueries(name, withKnownOptions(name, program)),
    ]),
  ),
)

/** A program that only reads does so with options that are known to; git's go by its commands. */
function withKnownOptions(name: string, program: ProgramClassifier): ProgramClassifier {
  if (OWN_OPTIONS.has(name)) return program
  return (call) => readOnlyOptions.checkOptions(name, call.args, program(call))
}

/** Programs that read, or run nothing but what is judged as a part of its own. */
const READING_NAMES = new Set(
  [readers, builtins, searches, streamEditors, wrappers].flatMap((table) => Object.keys(table)),
)
READING_NAMES.add('cd').add('pushd').add('chdir')
const FILE_NAMES = new Set(Object.keys(files))
const IN_WORKSPACE: ReadonlySet<Category> = new Set(['read_only', 'mutating', 'destructive'])

/**
 * Whether a call runs no code of the workspace and reaches no network itself, by what was found about it.
 * Programs of version control and of packages are none of these: settings in the workspace may make them run others.
 */
export function isInertCall(name: string, args: readonly string[], findings: readonly Finding[]): boolean {
  if (FILE_NAMES.has(name)) {
    return args.every(isLiteral) && findings.every(({ category }) => IN_WORKSPACE.has(category))
  }
  const isReading = READING_NAMES.has(name) || isAboutItself(args)
  return isReading && findings.every(({ category }) => category === 'read_only')
}

/** Those of which several versions stand side by side: `python3.12`, `gcc-13`. */
const versionedPrograms: ReadonlySet<ProgramClassifier> = new Set(
  [build, interpreters, packages]
    .flatMap((table) => Object.keys(table))
    .flatMap((name) => programs.get(name) ?? []),
)

/** No program is called by more. */
const LONGEST_NAME = 64

/**
 * The program of a name; also in capitals, which some disks take for the same, with a version, and as GNU's are called
 * beside others: `gsort`. It may as well be something else then, so it never only reads.
 */
export function findProgram(name: string): ProgramClassifier | undefined {
  const known = programs.get(name)
  if (known !== undefined || name.length > LONGEST_NAME) return known
  const lower = name.toLowerCase()
  const plain = lower.replace(/(?:\.exe)?$|[-.]?\d+(?:\.\d+)*$/, '')
  const found = programs.get(plain) ?? (plain.startsWith('g') ? programs.get(plain.slice(1)) : undefined)
  if (found === undefined || (name === lower && versionedPrograms.has(found))) return found
  return (call) => {
    const told = found(call)
    return { ...told, findings: [...told.findings, LOOKALIKE] }
  }
}

const LOOKALIKE = createFinding('mutating', 'is called like a program policy knows')
