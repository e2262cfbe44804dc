import type { Category, Finding } from '../category.ts'

/** A program as it is called. Words hold UNKNOWN where something is only known when it runs. */
export interface Invocation {
  readonly program: string
  readonly args: readonly string[]
  /** What it reads; undefined where that is the request's own input. */
  readonly stdin: string | undefined
}

/** Something a program runs itself: a program with arguments, a line of a shell, code of another language, a setting. */
export type NestedCommand =
  | { readonly argv: readonly string[]; readonly stdin?: string | undefined }
  | { readonly shell: string }
  | { readonly code: string }
  /** What may be a line of a shell, or may not: only what it would plainly do counts. */
  | { readonly maybe: string }
  /** Words that a shell may expand later, as it does with the index of an array. */
  | { readonly text: string }
  | { readonly setting: string; readonly value: string }

/** What a call of a program does. */
export interface ProgramEffect {
  readonly findings: readonly Finding[]
  readonly runs?: readonly NestedCommand[]
  /** The arguments that may name files; all of them unless said otherwise. */
  readonly paths?: readonly string[]
}

/** What one program does, judged by its arguments. Pure. */
export type ProgramClassifier = (call: Invocation) => ProgramEffect

/** Programs by the names they are called by. */
export type ProgramTable = Readonly<Record<string, ProgramClassifier>>

const REASONS: Readonly<Record<Category, string>> = {
  read_only: 'only reads',
  mutating: 'changes files',
  interactive: 'waits for somebody at a terminal',
  destructive: 'takes files or their history away',
  networked: 'reaches the network',
  host_escape_risk: 'acts on this machine outside the workspace',
}

/** A finding, in the category's own words unless there are better ones. */
export function createFinding(category: Category, reason: string = REASONS[category]): Finding {
  return { category, reason }
}

/** An effect that is no more than one finding. */
export function createEffect(category: Category, reason?: string): ProgramEffect {
  return { findings: [createFinding(category, reason)] }
}

export const READS: ProgramEffect = createEffect('read_only')

/** The strongest thing there is to say of what cannot be looked into: it may be anything, so somebody has to look. */
export function createUnseenFindings(what: string): readonly Finding[] {
  const reason = `runs ${what}, which is only known when it runs`
  return [
    createFinding('mutating', reason),
    createFinding('destructive', reason),
    createFinding('networked', reason),
  ]
}

/** The same program under several names. */
export function createAliases(names: string, program: ProgramClassifier): ProgramTable {
  return Object.fromEntries(names.split(' ').map((name) => [name, program]))
}

/** Programs that do the same whatever their arguments. */
export function createFixedPrograms(names: string, category: Category, reason?: string): ProgramTable {
  const same = createEffect(category, reason)
  return createAliases(names, () => same)
}

const SYSTEM_PATTERN = /^(?:~|\.\.|\/(?:etc|home|opt|proc|root|run|srv|sys|tmp|usr|var|Users))\/.*[*?[]/

/** Words that a shell looks up among the files of the system before the program gets them. */
export function filterSystemPatterns(args: readonly string[]): readonly string[] {
  return args.filter((arg) => SYSTEM_PATTERN.test(arg))
}

const STREAM = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/

/** Whether a script is no file: standard input, or the end of a pipe. */
export function isStream(script: string): boolean {
  return STREAM.test(script)
}
