import type { Category, Finding } from './category.ts'
import { classifyRedirection } from './classify-redirection.ts'
import { classifySetting } from './classify-setting.ts'
import { isSystemPath, type PathContext } from './host-path.ts'
import {
  classifyProgramPath,
  createRefusalFindings,
  findHostPaths,
  formatText,
  isHostProgram,
  type Part,
} from './part.ts'
import {
  createFinding,
  createUnseenFindings,
  findCarriedCommands,
  findProgram,
  isInertCall,
  type NestedCommand,
  type ProgramClassifier,
} from './programs/index.ts'
import { scanCode } from './scan-code.ts'
import { isHarmless } from './shell/arithmetic.ts'
import { expandCommand } from './shell/command-words.ts'
import { parseScript } from './shell/parse-script.ts'
import type { ShellScript, SimpleCommand } from './shell/shell-script.ts'
import { isLiteral, UNKNOWN } from './shell/unknown.ts'
import { expand, expandWhole } from './shell/word.ts'

/** Limits on lines, nesting and programs, above anything that people write by hand. */
const MAX_LENGTH = 64 * 1024
const MAX_NESTING = 12
const MAX_PARTS = 1000
/** Limit on characters read in all: of scripts, of words, and of commands nested in them. */
const MAX_WORK = 4 * 1024 * 1024
/** Many unclosed braces on one line: the parser takes longer with each. */
const TOO_MANY_BRACES = /(?:\{[^{}\n]*){200}/

const SHOWN_LENGTH = 120

/** Variable that no script assigns: its value is unknown. */
const UNKNOWN_VARIABLE = `$\{_}`
/** Delimiter that is not expected in any text. */
const END_OF_TEXT = '_END_OF_TEXT_'
const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s
/** Empty, only known at run time, or a pattern for several programs. */
const NOT_A_NAME = new RegExp(`^$|${UNKNOWN}|[*?]|.\\[|\\[.`)
/** Categories that count for a string in code of another language: most strings are no commands at all. */
const STRONG_CATEGORIES: ReadonlySet<Category> = new Set(['destructive', 'networked', 'host_escape_risk'])

const EVALUATES = [createFinding('mutating', 'is evaluated, and may run a command if it is not a number')]

/** Context of a command. */
export interface CommandContext {
  readonly pathContext: PathContext
  /** Number of programs and shells around it. */
  readonly nesting: number
  /** Its input; undefined for the terminal. */
  readonly stdin: string | undefined
  /** Names of the script's functions. */
  readonly functions: ReadonlySet<string>
}

/** Parts and characters read so far, by a classifier and all its nested ones. */
interface WorkCount {
  parts: number
  characters: number
}

/** Walks a command down to every program it runs. Pure: it reads nothing but its arguments. */
export class CommandClassifier {
  readonly parts: Part[] = []
  /** Names of all variables that the command sets. */
  readonly variables: Set<string> = new Set()
  readonly #work: WorkCount

  constructor(work: WorkCount = { parts: 0, characters: 0 }) {
    this.#work = work
  }

  /** Classifies a line, or a whole script, as a shell reads it. */
  classifyShell(source: string, context: CommandContext): void {
    const problem = this.#findProblem(source, context)
    if (problem !== undefined) {
      this.#addPart(source, problem)
      return
    }
    const isKnown = isLiteral(source)
    if (!isKnown) this.#addPart(source, createUnseenFindings('a line'))
    // The known words of a line still count: the rest is replaced by an unset variable.
    const script = parseScript(
      isKnown ? source : source.replaceAll(UNKNOWN, UNKNOWN_VARIABLE),
      context.pathContext.depth,
      context.nesting > 0,
    )
    if (script.error !== undefined)
      this.#addPart(source, createRefusalFindings(`cannot be parsed: ${script.error}`))
    if (script.isInteractive) this.#addPart(source, [createFinding('interactive')])
    if (script.hasPrompt) this.#addPart(source, createUnseenFindings('what is in a value'))
    for (const evaluation of script.evaluations) {
      if (!isHarmless(evaluation, script.variables)) this.#addPart(evaluation.text, EVALUATES)
    }
    this.#classifyListed(script, context)
    this.#classifyAssigned(script, context)
    for (const command of script.commands) {
      if (this.#isOverBudget()) {
        this.#addPart(
          source.slice(0, SHOWN_LENGTH),
          createRefusalFindings('runs more programs than can be analysed'),
        )
        return
      }
      this.#classifyCommand(command, script, context)
    }
    if (script.variables.isExhausted)
      this.#addPart(source, createUnseenFindings('values that are too long to analyse'))
    for (const text of script.evaluatedTexts) this.#classifyNested({ shell: `: ${text}` }, context)
  }

  /** Classifies a program with its arguments, as the system starts it. */
  classifyArgv(words: readonly string[], context: CommandContext): void {
    if (this.#isTooDeep(context)) {
      this.#addPart(words.join(' '), createRefusalFindings('is nested too deeply to analyse'))
      return
    }
    const [first = '', ...args] = this.#stripSettings(words, context)
    const name = first.slice(first.lastIndexOf('/') + 1)
    if (first.startsWith('-')) {
      // The grammar removes the word `time` from a command. These are its options.
      this.#classifyProgram('time', 'time', [first, ...args], context)
    } else if (NOT_A_NAME.test(name)) {
      this.#addPart(words.join(' '), [
        ...createUnseenFindings('a program'),
        ...findHostPaths(words, context.pathContext),
      ])
      // The word may be empty, or a program that runs the rest.
      for (const nested of findCarriedCommands(args)) this.#classifyNested(nested, context)
    } else this.#classifyProgram(first, name, args, context)
  }

  /** Strips the assignments of `sudo A=1 program` and its like. */
  #stripSettings(words: readonly string[], context: CommandContext): readonly string[] {
    let at = 0
    for (; at < words.length - 1; at++) {
      const word = words[at] ?? ''
      const [, variable, value = ''] = (word.includes('=') && word.match(ASSIGNMENT)) || []
      if (variable === undefined) break
      this.classifySetting(variable, value, context)
    }
    return at === 0 ? words : words.slice(at)
  }

  /** Classifies a variable, or a setting of git, that is set for later commands. */
  classifySetting(name: string, value: string, context: CommandContext): void {
    this.variables.add(name)
    const { findings, runs, paths } = classifySetting(name, value)
    const all = [...findings, ...findHostPaths(paths, context.pathContext)]
    if (all.length > 0) this.#addPart(`${name}=${value}`, all)
    for (const nested of runs) this.#classifyNested(nested, context)
  }

  #classifyCommand(
    { node, redirects, depth: worst, closingDepth, stdin }: SimpleCommand,
    script: ShellScript,
    outer: CommandContext,
  ): void {
    const { variables, functions } = script
    const depth = closingDepth ?? worst
    const pathContext = { ...outer.pathContext, depth }
    const input = stdin ?? script.input
    const context = {
      ...outer,
      pathContext,
      functions,
      stdin: input === undefined ? outer.stdin : input(),
    }
    for (const redirect of redirects) {
      const effect = classifyRedirection(redirect, variables, pathContext)
      if (effect !== undefined) this.#addPart(effect.text, effect.findings, { isInert: true })
    }
    if (node === undefined) return
    const { settings, words } = expandCommand(node, variables)
    for (const { name, value } of settings) this.classifySetting(name, value, context)
    if (words.length > 0) this.classifyArgv(words, context)
  }

  /** Classifies words of a loop or an array, which may become arguments: only plain paths of the system count. */
  #classifyListed({ listed, variables }: ShellScript, context: CommandContext): void {
    for (const { word, depth } of listed) {
      const words = expand(word, variables).filter(isSystemPath)
      const findings = findHostPaths(words, { ...context.pathContext, depth })
      if (findings.length > 0) this.#addPart(words.join(' '), findings)
    }
  }

  /** Classifies variables that get a value otherwise than by an assignment: `for PATH in .`. */
  #classifyAssigned({ assigned, variables }: ShellScript, context: CommandContext): void {
    for (const { name, word, depth } of assigned) {
      const value = word === undefined ? UNKNOWN : expandWhole(word, variables)
      this.classifySetting(name, value, { ...context, pathContext: { ...context.pathContext, depth } })
    }
  }

  #classifyProgram(path: string, name: string, args: readonly string[], context: CommandContext): void {
    const program = findProgram(name) ?? createUnknownProgram(context.functions.has(name))
    const { findings, runs = [], paths = args } = program({ program: name, args, stdin: context.stdin })
    const own = [...findings]
    if (path !== name) own.push(...classifyProgramPath(path, context.pathContext))
    own.push(...findHostPaths(paths, context.pathContext))
    if (!isLiteral(path) || !args.every(isLiteral)) {
      own.push(createFinding('mutating', 'has arguments that are only known when it runs'))
    }
    // Without a finding of its own it only passes on the effects of its commands, which are parts as well.
    const isInert = own.length === 0 || (isHostProgram(name, path) && isInertCall(name, args, own))
    this.#addPart([path, ...args].join(' '), own, { program: name, path, args, isInert })
    for (const nested of runs) this.#classifyNested(nested, context)
  }

  #classifyNested(nested: NestedCommand, outer: CommandContext): void {
    const context = { ...outer, nesting: outer.nesting + 1 }
    if ('shell' in nested) this.classifyShell(nested.shell, context)
    else if ('code' in nested) this.#classifyCode(nested.code, context)
    else if ('text' in nested) this.#classifyLeniently(createExpansion(nested.text), context)
    else if ('maybe' in nested) this.#classifyLeniently(nested.maybe, context)
    else if ('setting' in nested) this.classifySetting(nested.setting, nested.value, context)
    else if (nested.argv.length > 0)
      this.classifyArgv(nested.argv, { ...context, stdin: nested.stdin ?? context.stdin })
  }

  /** Classifies code of another language: its words, and its strings as lines of a shell. */
  #classifyCode(code: string, context: CommandContext): void {
    const { findings, paths, lines } = scanCode(code)
    const all = [...findings, ...findHostPaths(paths, context.pathContext)]
    if (!isLiteral(code)) all.push(...createUnseenFindings('code'))
    if (all.length > 0) this.#addPart(code, all)
    for (const line of lines) this.#classifyLeniently(line, context)
  }

  /** Classifies text that may or may not be a line of a shell: only strong categories count. */
  #classifyLeniently(line: string, context: CommandContext): void {
    if (this.#isTooDeep(context)) {
      this.#addPart(line, createRefusalFindings('is nested too deeply to analyse'))
      return
    }
    const inner = new CommandClassifier(this.#work)
    inner.classifyShell(line, { ...context, stdin: '' })
    for (const part of inner.parts) {
      const findings = part.findings.filter(({ category }) => STRONG_CATEGORIES.has(category))
      if (findings.length > 0 && part.program !== undefined) this.parts.push({ ...part, findings })
    }
  }

  /** Counts the characters of a line. Returns findings if it is too long or too deep to analyse. */
  #findProblem(source: string, context: CommandContext): readonly Finding[] | undefined {
    this.#work.characters += source.length
    if (source.length > MAX_LENGTH) return createRefusalFindings('is too long to analyse')
    if (TOO_MANY_BRACES.test(source))
      return createRefusalFindings('has more open braces than can be analysed')
    return this.#isTooDeep(context) ? createRefusalFindings('is nested too deeply to analyse') : undefined
  }

  #isTooDeep({ nesting }: CommandContext): boolean {
    return nesting > MAX_NESTING || this.#isOverBudget()
  }

  #isOverBudget(): boolean {
    return this.#work.parts > MAX_PARTS || this.#work.characters > MAX_WORK
  }

  #addPart(text: string, findings: readonly Finding[], more: Partial<Part> = {}): void {
    const part = { program: undefined, path: undefined, args: [], isInert: false, ...more }
    this.#work.parts++
    this.#work.characters += text.length
    this.parts.push({ ...part, text: formatText(text), findings })
  }
}

/** Returns a line that expands a text as it stands, whatever brackets and quotation marks are in it. */
function createExpansion(text: string): string {
  return `: <<${END_OF_TEXT}\n${text}\n${END_OF_TEXT}`
}

/**
 * Creates the classifier of a name that no table has. A function's body is classified at its definition; any other
 * program may do anything in a workspace.
 */
function createUnknownProgram(isFunction: boolean): ProgramClassifier {
  if (isFunction) return () => ({ findings: [] })
  return ({ args }) => ({
    findings: [createFinding('mutating', 'is not a program that policy knows')],
    runs: findCarriedCommands(args),
  })
}
