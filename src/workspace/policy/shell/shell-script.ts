import {
  type AndOr,
  type Command,
  forEachChild,
  type Pipeline,
  parse,
  type Redirection,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { type Evaluation, findEvaluations } from './arithmetic.ts'
import { findAssignedName } from './assigned-name.ts'
import { depthAfter } from './depth.ts'
import { findEvaluatedTexts, isPrompt, listTestedFiles } from './evaluated-texts.ts'
import { predictOutput } from './predict-output.ts'
import { UNKNOWN } from './unknown.ts'
import { Variables } from './variables.ts'
import { expandWhole } from './word.ts'

/** A command of a script that runs one program, with where and on what it runs. */
export interface SimpleCommand {
  /** Absent where there are only redirections, those of a loop for example. */
  readonly node: Command | undefined
  readonly redirects: readonly Redirection[]
  /** How many directories below the root of the workspace it runs. */
  readonly depth: number
  /** What it reads, where that is known; undefined where it is what the script reads. */
  readonly stdin: (() => string) | undefined
}

/** A script taken apart. */
export interface ShellScript {
  readonly commands: readonly SimpleCommand[]
  readonly variables: Variables
  /** Names that mean a function, whose body is among the commands. */
  readonly functions: ReadonlySet<string>
  /** Whether it asks with a menu. */
  readonly isInteractive: boolean
  /** Text that is expanded once more when it is taken for a number or a name: the `a[$(x)]` of `[[ 'a[$(x)]' -eq 1 ]]`. */
  readonly evaluated: readonly string[]
  /** Everything that is evaluated as a number or a name. */
  readonly evaluations: readonly Evaluation[]
  /** Words that a loop or an array goes through. */
  readonly listed: readonly ListedWord[]
  /** What `exec` makes the script itself read from then on; undefined where it does not. */
  readonly input: SimpleCommand['stdin']
  /** Variables that get a value otherwise than by an assignment. */
  readonly assigned: readonly AssignedVariable[]
  /** Whether it expands a value as if it were a prompt, with whatever commands are in it. */
  readonly hasPrompt: boolean
  /** What is wrong with its grammar. */
  readonly error: string | undefined
}

/** A word that is not an argument of a program yet. */
interface ListedWord {
  readonly word: Word
  readonly depth: number
}

/** A variable with a value it may get; undefined where only the shell knows. */
interface AssignedVariable {
  readonly name: string
  readonly word: Word | undefined
  readonly depth: number
}

type Stdin = SimpleCommand['stdin']

/** Where a node stands. */
interface NodeContext {
  readonly depth: number
  /** How many nodes it is inside of. */
  readonly level: number
  readonly stdin: Stdin
}

/** Far more than anybody nests, far less than the stack takes. */
const MAX_LEVEL = 200

/** Builtins that assign variables in ways that are not looked into. */
const ASSIGNING = new Set([
  'read',
  'mapfile',
  'readarray',
  'getopts',
  'let',
  'printf',
  'source',
  '.',
  'eval',
  'unset',
])

/** Fields end where they do by default, or nowhere. */
const PLAIN_SEPARATORS = /^[ \t\n]*$/

/** Finds every simple command of a script, those in substitutions, functions and here-documents included. */
export function parseScript(source: string, depth: number): ShellScript {
  const reader = new ScriptReader()
  reader.visit(parse(source), { depth, level: 0, stdin: undefined })
  return reader
}

class ScriptReader implements ShellScript {
  readonly commands: SimpleCommand[] = []
  readonly variables: Variables = new Variables()
  readonly functions: Set<string> = new Set()
  readonly evaluated: string[] = []
  readonly evaluations: Evaluation[] = []
  readonly listed: ListedWord[] = []
  readonly assigned: AssignedVariable[] = []
  input: Stdin
  #hasAlias = false
  hasPrompt = false
  isInteractive = false
  error: string | undefined

  /** Takes in a node and what is below it; returns the depth that whatever comes after it starts from at worst. */
  visit(node: SyntaxNode, around: NodeContext): number {
    if (around.level > MAX_LEVEL) {
      this.error ??= 'it is nested too deeply'
      return 0
    }
    switch (node.type) {
      case 'Word':
        return node.parts === undefined ? around.depth : this.#visitChildren(node, around)
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return around.depth
      case 'Script':
        this.error ??= node.errors?.[0]?.message
        return this.#visitChildren(node, around)
      case 'Pipeline':
        return this.#visitPipeline(node, around)
      case 'AndOr':
        return this.#visitChain(node, around)
      case 'Command':
        return this.#visitCommand(node, around)
      case 'Redirected': {
        const { redirects } = node
        this.commands.push({ node: undefined, redirects, depth: around.depth, stdin: around.stdin })
        return this.#visitChildren(node, { ...around, stdin: this.#findInput(redirects) ?? around.stdin })
      }
      case 'Function':
        this.functions.add(node.name.value)
        return this.#visitChildren(node, { ...around, stdin: () => UNKNOWN })
      case 'For':
      case 'Select':
        this.#assignOtherwise(node, around)
        this.isInteractive ||= node.type === 'Select'
        this.#addListed(node.wordlist ?? [], around)
        return this.#visitChildren(node, around)
      case 'Assignment':
        this.#assign(node)
        this.#evaluate(node)
        return this.#visitChildren(node, around)
      case 'ArrayValue':
        this.#addListed(node.elements, around)
        this.#evaluate(node)
        return this.#visitChildren(node, around)
      case 'Coproc':
        this.#assignOtherwise(node, around)
        // It reads what the script may write to it.
        return this.#visitChildren(node, { ...around, stdin: () => UNKNOWN })
      case 'FileDescriptorVariable':
      case 'ArithmeticBinary':
      case 'ArithmeticUnary':
        this.#assignOtherwise(node, around)
        return this.#visitChildren(node, around)
      case 'ParameterExpansion':
        this.#assignOtherwise(node, around)
        this.#evaluate(node)
        return this.#visitChildren(node, around)
      case 'TestUnary':
      case 'TestBinary':
        this.#addListed(listTestedFiles(node), around)
        this.#evaluate(node)
        return this.#visitChildren(node, around)
      case 'ArithmeticWord':
      case 'ArithmeticExpansion':
      case 'ArithmeticCommandExpansion':
        this.#evaluate(node)
        return this.#visitChildren(node, around)
      case 'ProcessSubstitution':
        // What is written to `>(…)` is only known when it runs.
        return this.#visitChildren(node, node.operator === '>' ? { ...around, stdin: () => UNKNOWN } : around)
      default:
        return this.#visitChildren(node, around)
    }
  }

  #visitChildren(node: SyntaxNode, around: NodeContext): number {
    const { stdin } = around
    const level = around.level + 1
    let inside: NodeContext = { depth: around.depth, level, stdin }
    forEachChild(node, (child) => {
      const depth = this.visit(child, inside)
      if (depth < inside.depth) inside = { depth, level, stdin }
    })
    return inside.depth
  }

  #visitCommand(node: Command, around: NodeContext): number {
    const fed = this.#findInput(node.redirects)
    const stdin = fed ?? around.stdin
    // Whatever else reads may do so before or after: of two nobody knows which it is.
    if (isExec(node) && fed !== undefined) this.input = this.input === undefined ? fed : () => UNKNOWN
    this.commands.push({ node, redirects: node.redirects, depth: around.depth, stdin })
    this.#hasAlias ||= node.name?.value === 'alias'
    const isAssigning = ASSIGNING.has(node.name?.value ?? '') && !isPlainPrintf(node)
    if (isAssigning || namesOther(node) || changesSeparators(node)) this.variables.distrust()
    this.#visitChildren(node, around)
    return Math.min(around.depth, depthAfter(node, around.depth))
  }

  /** After `cd a &&` the rest runs in `a`; after `cd a ||` or `;` it may as well not. */
  #visitChain({ commands, operators }: AndOr, around: NodeContext): number {
    let [depth, worst] = [around.depth, around.depth]
    for (const [index, command] of commands.entries()) {
      const after = this.visit(command, { ...around, depth, level: around.level + 1 })
      worst = Math.min(worst, after)
      if (operators[index] !== '&&') depth = worst
      else depth = command.type === 'Command' ? depthAfter(command, depth) : Math.min(depth, after)
    }
    return worst
  }

  #visitPipeline({ commands }: Pipeline, around: NodeContext): number {
    let depth = around.depth
    for (const [index, command] of commands.entries()) {
      const before = commands[index - 1]
      const stdin = before === undefined ? around.stdin : () => this.#predictOutput(before)
      depth = Math.min(depth, this.visit(command, { depth: around.depth, level: around.level + 1, stdin }))
    }
    return depth
  }

  /** What a command passes on, if it is the one it is called like. `cat <<EOF` passes on what it is fed. */
  #predictOutput(node: SyntaxNode): string {
    if (node.type !== 'Command' || this.#isRenamed(node.name?.value ?? '')) return UNKNOWN
    const isCat = node.name?.value === 'cat' && node.args.length === 0
    return (isCat ? this.#findInput(node.redirects)?.() : undefined) ?? predictOutput(node, this.variables)
  }

  /** `cat() { …; }`, `alias cat=…`: then it is something else. */
  #isRenamed(name: string): boolean {
    return this.functions.has(name) || this.#hasAlias
  }

  /** What redirections feed to a command. */
  #findInput(redirects: readonly Redirection[]): Stdin {
    const last = redirects.findLast(isInput)
    if (last === undefined) return undefined
    if (last.type === 'HereString') {
      const { target } = last
      return () => (target === undefined ? '' : expandWhole(target, this.variables))
    }
    if (last.type === 'Redirect' || last.body.parts?.some(({ type }) => type !== 'Literal'))
      return () => UNKNOWN
    return () => last.body.text
  }

  #addListed(words: readonly Word[], { depth }: NodeContext): void {
    for (const word of words) this.listed.push({ word, depth })
  }

  /** Notes what the shell reads as a number or a name: there a subscript is expanded even if it was in quotes. */
  #evaluate(node: SyntaxNode): void {
    this.evaluated.push(...findEvaluatedTexts(node))
    this.evaluations.push(...findEvaluations(node))
    this.hasPrompt ||= isPrompt(node)
  }

  #assignOtherwise(node: SyntaxNode, { depth }: NodeContext): void {
    const given = findAssignedName(node)
    if (given === undefined) return
    const { name, words = [undefined] } = given
    this.variables.assign(name, UNKNOWN, givesNumber(node))
    if (name === 'IFS') this.variables.distrust()
    for (const word of words) this.assigned.push({ name, word, depth })
  }

  #assign(node: SyntaxNode): void {
    if (node.type !== 'Assignment') return
    const { name, value, append, index } = node
    const isPlain = value.type === 'Word' && !append && index === undefined
    const text = isPlain ? expandWhole(value, this.variables) : UNKNOWN
    this.variables.assign(name, text, isPlain && isNumberWord(value) ? true : undefined)
  }
}

/** `x=$((y + 1))`, `x=${#y}`, `{1..9}`: some number. */
function isNumberWord({ parts, value }: Word): boolean {
  if (parts === undefined) return /^[-+]?\d+$/.test(value)
  const [part, ...others] = parts
  if (part === undefined || others.length > 0) return false
  if (part.type === 'BraceExpansion') return /^\{-?\d+\.\.-?\d+(?:\.\.\d+)?\}$/.test(part.text)
  if (part.type === 'ParameterExpansion') return part.prefix === '#'
  return part.type === 'ArithmeticExpansion'
}

/** Whether what a node gives a variable is a number: of a loop through numbers, of an expression, of a descriptor. */
function givesNumber(node: SyntaxNode): boolean {
  if (node.type === 'For') return node.wordlist?.every(isNumberWord) ?? false
  return node.type.startsWith('Arithmetic') || node.type === 'FileDescriptorVariable'
}

/** `exec < f` without a program. */
function isExec({ name, args }: Command): boolean {
  return name?.value === 'exec' && args.length === 0
}

/** Leads into standard input, and not into another descriptor: `3<<< x`. */
function isInput({ type, operator, descriptor }: Redirection): boolean {
  if (descriptor === undefined) return type !== 'Redirect' || operator.startsWith('<')
  return descriptor.type === 'FileDescriptor' && descriptor.value === 0
}

/** `printf` assigns with `-v` only. */
function isPlainPrintf({ name, args }: Command): boolean {
  return name?.value === 'printf' && args[0]?.type === 'Word' && !args[0].value.startsWith('-')
}

/** `declare -n y=x`: from then on both are the same variable. */
function namesOther({ name, args }: Command): boolean {
  if (!/^(?:declare|typeset|local)$/.test(name?.value ?? '')) return false
  return args.some((arg) => arg.type === 'Word' && /^-[a-zA-Z]*n/.test(arg.value))
}

/** Separators of one's own take words apart where nobody looks. */
function changesSeparators({ name, prefix, args }: Command): boolean {
  return [...(name === undefined ? prefix : []), ...args].some(
    (one) =>
      one.type === 'Assignment' &&
      one.name === 'IFS' &&
      !(one.value.type === 'Word' && PLAIN_SEPARATORS.test(one.value.value)),
  )
}
