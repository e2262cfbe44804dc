import type { Category, Finding } from './category.ts'
import { signsIn } from './code-text.ts'
import { judgeSetting } from './environment.ts'
import { isSystemPath, type Place } from './host-path.ts'
import { hostPaths, isHostProgram, type Part, programPath, refusal, shownText } from './part.ts'
import {
  carried,
  finding,
  type Nested,
  type Program,
  programNamed,
  staysInert,
  unseen,
} from './programs/index.ts'
import { judgeRedirection } from './redirection.ts'
import { isHarmless } from './shell/arithmetic.ts'
import { wordsOf } from './shell/command-words.ts'
import { readScript, type Script, type SimpleCommand } from './shell/script.ts'
import { isLiteral, UNKNOWN } from './shell/unknown.ts'
import { expand, expandWhole } from './shell/word.ts'

/** Longer lines, deeper nesting or more programs than anybody writes by hand are not looked into. */
const MAX_LENGTH = 64 * 1024
const MAX_NESTING = 12
const MAX_PARTS = 1000
/** Characters that are read in all: of scripts, of words, and of what is nested in them. */
const MAX_WORK = 4 * 1024 * 1024
/** Braces that are opened one after another on a line, and not closed: reading them takes longer with each. */
const TOO_MANY_BRACES = /(?:\{[^{}\n]*){200}/

const SHOWN_LENGTH = 120

/** A variable with a name no script has: what it stands for is not known. */
const UNSET = `$\{_}`
/** A line that no text has. */
const END_OF_TEXT = '_END_OF_TEXT_'
const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s
/** Nothing, something only known when it runs, or a pattern for several programs. */
const NOT_A_NAME = new RegExp(`^$|${UNKNOWN}|[*?]|.\\[|\\[.`)
/** What a string in code of another language may be held against it for: most strings are no commands at all. */
const TELLING: ReadonlySet<Category> = new Set(['destructive', 'networked', 'host_escape_risk'])

const EVALUATES = [finding('mutating', 'is evaluated, and may run a command where it is no number')]

/** Where a command stands. */
export interface Surroundings {
  readonly place: Place
  /** How many programs and shells it is inside of. */
  readonly nesting: number
  /** What it reads; undefined for whoever sits at the terminal. */
  readonly stdin: string | undefined
  /** Names that mean a function of the script. */
  readonly functions: ReadonlySet<string>
}

/** How much has been read so far, by a judge and all it started. */
interface Work {
  parts: number
  characters: number
}

/** Looks through a command down to every program it runs. Pure: it only ever reads what it was given. */
export class Judge {
  readonly parts: Part[] = []
  /** The names of all variables that are set on the way. */
  readonly variables: Set<string> = new Set()
  readonly #work: Work

  constructor(work: Work = { parts: 0, characters: 0 }) {
    this.#work = work
  }

  /** A line, or a whole script, as a shell reads it. */
  shell(source: string, around: Surroundings): void {
    const problem = this.#problemWith(source, around)
    if (problem !== undefined) {
      this.#add(source, problem)
      return
    }
    const isKnown = isLiteral(source)
    if (!isKnown) this.#add(source, unseen('a line'))
    // What is known of a line counts all the same: the rest of it stands there as a variable nobody has set.
    const script = readScript(isKnown ? source : source.replaceAll(UNKNOWN, UNSET), around.place.depth)
    if (script.error !== undefined) this.#add(source, refusal(`cannot be parsed: ${script.error}`))
    if (script.isInteractive) this.#add(source, [finding('interactive')])
    if (script.hasPrompt) this.#add(source, unseen('what is in a value'))
    for (const evaluation of script.evaluations) {
      if (!isHarmless(evaluation, script.variables)) this.#add(evaluation.text, EVALUATES)
    }
    this.#listed(script, around)
    this.#assigned(script, around)
    for (const command of script.commands) {
      if (this.#isTooMuch()) {
        this.#add(source.slice(0, SHOWN_LENGTH), refusal('runs more than can be looked into'))
        return
      }
      this.#command(command, script, around)
    }
    if (script.variables.isExhausted) this.#add(source, unseen('values too long to look into'))
    for (const text of script.evaluated) this.#nested({ shell: `: ${text}` }, around)
  }

  /** A program with its arguments, as the system starts it. */
  argv(words: readonly string[], around: Surroundings): void {
    if (this.#isTooDeep(around)) {
      this.#add(words.join(' '), refusal('is nested too deeply to be looked into'))
      return
    }
    const [first = '', ...args] = this.#withoutSettings(words, around)
    const name = first.slice(first.lastIndexOf('/') + 1)
    if (first.startsWith('-')) {
      // Only a shell with a `time` of its own takes no options there.
      this.#program('time', 'time', [first, ...args], around)
    } else if (NOT_A_NAME.test(name)) {
      this.#add(words.join(' '), [...unseen('a program'), ...hostPaths(words, around.place)])
      // It may be nothing at all, or a program that runs the rest.
      for (const nested of carried(args)) this.#nested(nested, around)
    } else this.#program(first, name, args, around)
  }

  /** `sudo A=1 program` and its like: the program comes after. */
  #withoutSettings(words: readonly string[], around: Surroundings): readonly string[] {
    let at = 0
    for (; at < words.length - 1; at++) {
      const word = words[at] ?? ''
      const [, variable, value = ''] = (word.includes('=') && word.match(ASSIGNMENT)) || []
      if (variable === undefined) break
      this.setting(variable, value, around)
    }
    return at === 0 ? words : words.slice(at)
  }

  /** A variable that is set for what runs afterwards, or a setting of git. */
  setting(name: string, value: string, around: Surroundings): void {
    this.variables.add(name)
    const { findings, runs, paths } = judgeSetting(name, value)
    const all = [...findings, ...hostPaths(paths, around.place)]
    if (all.length > 0) this.#add(`${name}=${value}`, all)
    for (const nested of runs) this.#nested(nested, around)
  }

  #command({ node, redirects, depth, stdin }: SimpleCommand, script: Script, outside: Surroundings): void {
    const { variables, functions } = script
    const place = { ...outside.place, depth }
    const input = stdin ?? script.input
    const around = { ...outside, place, functions, stdin: input === undefined ? outside.stdin : input() }
    for (const redirect of redirects) {
      const told = judgeRedirection(redirect, variables, place)
      if (told !== undefined) this.#add(told.text, told.findings, { isInert: true })
    }
    if (node === undefined) return
    const { settings, words } = wordsOf(node, variables)
    for (const { name, value } of settings) this.setting(name, value, around)
    if (words.length > 0) this.argv(words, around)
  }

  /** What a loop or an array holds becomes an argument sooner or later, if it is plainly a path of the system. */
  #listed({ listed, variables }: Script, around: Surroundings): void {
    for (const { word, depth } of listed) {
      const words = expand(word, variables).filter(isSystemPath)
      const findings = hostPaths(words, { ...around.place, depth })
      if (findings.length > 0) this.#add(words.join(' '), findings)
    }
  }

  /** What gets a value otherwise than by an assignment is set all the same: `for PATH in .`. */
  #assigned({ assigned, variables }: Script, around: Surroundings): void {
    for (const { name, word, depth } of assigned) {
      const value = word === undefined ? UNKNOWN : expandWhole(word, variables)
      this.setting(name, value, { ...around, place: { ...around.place, depth } })
    }
  }

  #program(path: string, name: string, args: readonly string[], around: Surroundings): void {
    const program = programNamed(name) ?? unknownProgram(around.functions.has(name))
    const { findings, runs = [], paths = args } = program({ program: name, args, stdin: around.stdin })
    const own = [...findings]
    if (path !== name) own.push(...programPath(path, around.place))
    own.push(...hostPaths(paths, around.place))
    if (!isLiteral(path) || !args.every(isLiteral)) {
      own.push(finding('mutating', 'has arguments that are only known when it runs'))
    }
    // Without a finding of its own it only passes on what it runs, and that is a part as well.
    const isInert = own.length === 0 || (isHostProgram(name, path) && staysInert(name, args, own))
    this.#add([path, ...args].join(' '), own, { program: name, path, args, isInert })
    for (const nested of runs) this.#nested(nested, around)
  }

  #nested(nested: Nested, outside: Surroundings): void {
    const around = { ...outside, nesting: outside.nesting + 1 }
    if ('shell' in nested) this.shell(nested.shell, around)
    else if ('code' in nested) this.#code(nested.code, around)
    else if ('text' in nested) this.#leniently(expandedText(nested.text), around)
    else if ('maybe' in nested) this.#leniently(nested.maybe, around)
    else if ('setting' in nested) this.setting(nested.setting, nested.value, around)
    else if (nested.argv.length > 0)
      this.argv(nested.argv, { ...around, stdin: nested.stdin ?? around.stdin })
  }

  /** Code of another language: what its words say, and what its strings would do in a shell. */
  #code(code: string, around: Surroundings): void {
    const { findings, paths, lines } = signsIn(code)
    const all = [...findings, ...hostPaths(paths, around.place)]
    if (!isLiteral(code)) all.push(...unseen('code'))
    if (all.length > 0) this.#add(code, all)
    for (const line of lines) this.#leniently(line, around)
  }

  /** What may be a line of a shell, or may not: only what it would plainly do counts. */
  #leniently(line: string, around: Surroundings): void {
    if (this.#isTooDeep(around)) {
      this.#add(line, refusal('is nested too deeply to be looked into'))
      return
    }
    const inner = new Judge(this.#work)
    inner.shell(line, { ...around, stdin: '' })
    for (const part of inner.parts) {
      const findings = part.findings.filter(({ category }) => TELLING.has(category))
      if (findings.length > 0 && part.program !== undefined) this.parts.push({ ...part, findings })
    }
  }

  #problemWith(source: string, around: Surroundings): readonly Finding[] | undefined {
    this.#work.characters += source.length
    if (source.length > MAX_LENGTH) return refusal('is too long to be looked into')
    if (TOO_MANY_BRACES.test(source)) return refusal('has more open braces than can be looked into')
    return this.#isTooDeep(around) ? refusal('is nested too deeply to be looked into') : undefined
  }

  #isTooDeep({ nesting }: Surroundings): boolean {
    return nesting > MAX_NESTING || this.#isTooMuch()
  }

  #isTooMuch(): boolean {
    return this.#work.parts > MAX_PARTS || this.#work.characters > MAX_WORK
  }

  #add(text: string, findings: readonly Finding[], more: Partial<Part> = {}): void {
    const part = { program: undefined, path: undefined, args: [], isInert: false, ...more }
    this.#work.parts++
    this.#work.characters += text.length
    this.parts.push({ ...part, text: shownText(text), findings })
  }
}

/** A line that expands a text as it stands, whatever brackets and quotation marks are in it. */
function expandedText(text: string): string {
  return `: <<${END_OF_TEXT}\n${text}\n${END_OF_TEXT}`
}

/** A function's body is judged where it is defined; anything else may do whatever programs do in a workspace. */
function unknownProgram(isFunction: boolean): Program {
  if (isFunction) return () => ({ findings: [] })
  return ({ args }) => ({
    findings: [finding('mutating', 'is not a program policy knows')],
    runs: carried(args),
  })
}
