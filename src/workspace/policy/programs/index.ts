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
import { finding, type Program } from './program.ts'
import { answering, isAboutItself } from './questions.ts'
import { readers } from './readers.ts'
import { readingOptions } from './reading-options.ts'
import { streamEditors } from './stream-editors.ts'
import { system } from './system.ts'
import { wrappers } from './wrappers.ts'

export { carried } from './carried.ts'
export { finding, isStream, type Nested, type Program, unseen } from './program.ts'

/** Programs whose tables know their options themselves. */
const OWN_OPTIONS: ReadonlySet<string> = new Set(['git', 'find', 'gfind'])

const programs: ReadonlyMap<string, Program> = new Map(
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
    Object.entries(table).map(([name, program]): [string, Program] => [
      name,
      answering(name, withKnownOptions(name, program)),
    ]),
  ),
)

/** A program that only reads does so with options that are known to; git's go by its commands. */
function withKnownOptions(name: string, program: Program): Program {
  if (OWN_OPTIONS.has(name)) return program
  return (call) => readingOptions.checked(name, call.args, program(call))
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
export function staysInert(name: string, args: readonly string[], findings: readonly Finding[]): boolean {
  if (FILE_NAMES.has(name)) {
    return args.every(isLiteral) && findings.every(({ category }) => IN_WORKSPACE.has(category))
  }
  const isReading = READING_NAMES.has(name) || isAboutItself(args)
  return isReading && findings.every(({ category }) => category === 'read_only')
}

/** Those of which several versions stand side by side: `python3.12`, `gcc-13`. */
const versioned: ReadonlySet<Program> = new Set(
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
export function programNamed(name: string): Program | undefined {
  const known = programs.get(name)
  if (known !== undefined || name.length > LONGEST_NAME) return known
  const lower = name.toLowerCase()
  const plain = lower.replace(/(?:\.exe)?$|[-.]?\d+(?:\.\d+)*$/, '')
  const found = programs.get(plain) ?? (plain.startsWith('g') ? programs.get(plain.slice(1)) : undefined)
  if (found === undefined || (name === lower && versioned.has(found))) return found
  return (call) => {
    const told = found(call)
    return { ...told, findings: [...told.findings, LIKELY] }
  }
}

const LIKELY = finding('mutating', 'is called like a program policy knows')
