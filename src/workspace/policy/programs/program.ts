import { normalize } from '../../../vfs/index.ts'
import type { Category, Finding } from '../category.ts'

/** Call of a program. Words contain the character `UNKNOWN` for each text that is only known at run time. */
export interface Invocation {
  readonly program: string
  readonly args: readonly string[]
  /** Its input; undefined for the terminal. */
  readonly stdin: string | undefined
}

/** Command that a program runs in turn, as far as its own arguments show it. */
export type NestedCommand =
  /** A program with its arguments. */
  | { readonly argv: readonly string[]; readonly stdin?: string | undefined }
  /** A line of a shell. */
  | { readonly shell: string }
  /** Code of another language. */
  | { readonly code: string }
  /** Text that may or may not be a line of a shell: only findings of `STRONG_CATEGORIES` count. */
  | { readonly maybe: string }
  /** Words that a shell may expand later, as it does with the index of an array. */
  | { readonly text: string }
  /** A variable, or a setting of git, whose value the program may run. */
  | { readonly setting: string; readonly value: string }

/** Effect of a call of a program. */
export interface ProgramEffect {
  readonly findings: readonly Finding[]
  readonly runs?: readonly NestedCommand[]
  /** Arguments that may name files; all of them when absent. */
  readonly paths?: readonly string[]
}

/** Classifies the calls of one program by their arguments. Pure. */
export type ProgramClassifier = (call: Invocation) => ProgramEffect

/** Programs by lists of names, separated by spaces. */
export type ProgramTable = Readonly<Record<string, ProgramClassifier>>

const REASONS: Readonly<Record<Category, string>> = {
  read_only: 'only reads',
  mutating: 'changes files',
  interactive: 'waits for input at a terminal',
  destructive: 'deletes files or history',
  networked: 'reaches the network',
  host_escape_risk: 'acts on this machine outside the workspace',
}

/** Creates a finding, with the category's default reason unless another is given. */
export function createFinding(category: Category, reason: string = REASONS[category]): Finding {
  return { category, reason }
}

/** Creates an effect with one finding. */
export function createEffect(category: Category, reason?: string): ProgramEffect {
  return { findings: [createFinding(category, reason)] }
}

export const READS: ProgramEffect = createEffect('read_only')

/** Returns the findings of a command that cannot be analysed. By default, a person has to approve it. */
export function createUnseenFindings(subject: string): readonly Finding[] {
  const reason = `runs ${subject}, which is only known when it runs`
  return [
    createFinding('mutating', reason),
    createFinding('destructive', reason),
    createFinding('networked', reason),
  ]
}

/** Lists the same program under several names. */
export function createAliases(names: string, program: ProgramClassifier): ProgramTable {
  return { [names]: program }
}

/** Creates programs whose effect does not depend on their arguments. */
export function createFixedPrograms(names: string, category: Category, reason?: string): ProgramTable {
  const same = createEffect(category, reason)
  return createAliases(names, () => same)
}

const SYSTEM_PATTERN = /^(?:~|\.\.|\/(?:etc|home|opt|proc|root|run|srv|sys|tmp|usr|var|Users))\/.*[*?[]/

/** Returns words that a shell matches against files of the system before the program gets them. */
export function filterSystemPatterns(args: readonly string[]): readonly string[] {
  return args.filter((arg) => SYSTEM_PATTERN.test(arg))
}

const STREAM = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/(?:thread-)?self\/fd\/\d+)$/

/** True if the path of a script is an open stream and no file: standard input, or the end of a pipe. */
export function isStream(script: string): boolean {
  return STREAM.test(toPlainPath(script))
}

/** True for the names of standard input. */
export function isStandardInput(script: string): boolean {
  return /^-$|stdin$|fd\/0+$/.test(toPlainPath(script))
}

/** Returns an absolute path without repeated slashes and dots: `//dev/./stdin` is `/dev/stdin`. */
function toPlainPath(path: string): string {
  return path.startsWith('/') ? normalize(path) : path
}
