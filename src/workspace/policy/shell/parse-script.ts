import {
  type AndOr,
  type Command,
  forEachChild,
  type Pipeline,
  parse,
  type Redirection,
  type Script,
  type SyntaxNode,
  type Word,
} from 'unbash'
import { type Evaluation, findEvaluations } from './arithmetic.ts'
import { findAssignedName } from './assigned-name.ts'
import { findClosingMove, getDepthOrExit, isCalm } from './certain-moves.ts'
import { getDepthAfter } from './depth.ts'
import { findEvaluatedTexts, isPrompt, listTestedFiles } from './evaluated-texts.ts'
import { givesNumber, isNumberWord } from './number-words.ts'
import { predictOutput } from './predict-output.ts'
import type { AssignedVariable, ListedWord, ShellScript, SimpleCommand } from './shell-script.ts'
import { UNKNOWN } from './unknown.ts'
import { canAssignUnseen } from './unseen-assignments.ts'
import { Variables } from './variables.ts'
import { expandWhole } from './word.ts'

type Stdin = SimpleCommand['stdin']

/** Context of a node in its script. */
interface NodeContext {
  readonly depth: number
  /** Number of nodes around it. */
  readonly level: number
  readonly stdin: Stdin
}

/** Limit of nesting: far more than scripts use, far less than the stack allows. */
const MAX_LEVEL = 200

/**
 * Finds every simple command of a script, those in substitutions, functions and here-documents included.
 * @param isNested true if another command runs it, which may have given builtins another meaning.
 */
export function parseScript(source: string, depth: number, isNested: boolean): ShellScript {
  const reader = new ScriptReader(isNested)
  reader.visit(parse(source), { depth, level: 0, stdin: undefined })
  return reader
}

class ScriptReader implements ShellScript {
  readonly commands: SimpleCommand[] = []
  readonly variables: Variables = new Variables()
  readonly functions: Set<string> = new Set()
  readonly evaluatedTexts: string[] = []
  readonly evaluations: Evaluation[] = []
  readonly listed: ListedWord[] = []
  readonly assigned: AssignedVariable[] = []
  input: Stdin
  #hasAlias = false
  /** True if no command so far can change what `cd` and `exit` do, nor what runs when the shell ends. */
  #isCalm: boolean
  hasPrompt = false
  isInteractive = false
  error: string | undefined

  constructor(isNested: boolean) {
    this.#isCalm = !isNested
  }

  /** Visits a node and its descendants; returns the worst depth from which the next node may start. */
  visit(node: SyntaxNode, context: NodeContext): number {
    if (context.level > MAX_LEVEL) {
      this.error ??= 'the command is nested too deeply'
      return 0
    }
    switch (node.type) {
      case 'Word':
        return node.parts === undefined ? context.depth : this.#visitChildren(node, context)
      case 'Literal':
      case 'SingleQuoted':
      case 'AnsiCQuoted':
        return context.depth
      case 'Script':
        this.error ??= node.errors?.[0]?.message
        return context.level === 0 ? this.#visitStatements(node, context) : this.#visitChildren(node, context)
      case 'Pipeline':
        return this.#visitPipeline(node, context)
      case 'AndOr':
        return this.#visitChain(node, context)
      case 'Command':
        return this.#visitCommand(node, context)
      case 'Redirected': {
        const { redirects } = node
        this.commands.push({ node: undefined, redirects, depth: context.depth, stdin: context.stdin })
        return this.#visitChildren(node, { ...context, stdin: this.#findInput(redirects) ?? context.stdin })
      }
      case 'Function':
        this.functions.add(node.name.value)
        this.#isCalm = false
        return this.#visitChildren(node, { ...context, stdin: () => UNKNOWN })
      case 'For':
      case 'Select':
        this.#assignIndirectly(node, context)
        this.isInteractive ||= node.type === 'Select'
        this.#addListed(node.wordlist ?? [], context)
        return this.#visitChildren(node, context)
      case 'Assignment':
        this.#assign(node)
        this.#evaluate(node)
        return this.#visitChildren(node, context)
      case 'ArrayValue':
        this.#addListed(node.elements, context)
        this.#evaluate(node)
        return this.#visitChildren(node, context)
      case 'Coproc':
        this.#assignIndirectly(node, context)
        // It reads what the script may write to it.
        return this.#visitChildren(node, { ...context, stdin: () => UNKNOWN })
      case 'FileDescriptorVariable':
      case 'ArithmeticBinary':
      case 'ArithmeticUnary':
        this.#assignIndirectly(node, context)
        return this.#visitChildren(node, context)
      case 'ParameterExpansion':
        this.#assignIndirectly(node, context)
        this.#evaluate(node)
        return this.#visitChildren(node, context)
      case 'TestUnary':
      case 'TestBinary':
        this.#addListed(listTestedFiles(node), context)
        this.#evaluate(node)
        return this.#visitChildren(node, context)
      case 'ArithmeticWord':
      case 'ArithmeticExpansion':
      case 'ArithmeticCommandExpansion':
        this.#evaluate(node)
        return this.#visitChildren(node, context)
      case 'ProcessSubstitution':
        // The input of `>(…)` is only known at run time.
        return this.#visitChildren(
          node,
          node.operator === '>' ? { ...context, stdin: () => UNKNOWN } : context,
        )
      default:
        return this.#visitChildren(node, context)
    }
  }

  #visitChildren(node: SyntaxNode, context: NodeContext): number {
    const { stdin } = context
    const level = context.level + 1
    let childContext: NodeContext = { depth: context.depth, level, stdin }
    forEachChild(node, (child) => {
      const depth = this.visit(child, childContext)
      if (depth < childContext.depth) childContext = { depth, level, stdin }
    })
    return childContext.depth
  }

  /** Visits the statements of the script itself, which run once and in this order. */
  #visitStatements(node: Script, context: NodeContext): number {
    let { depth } = context
    const level = context.level + 1
    for (const statement of node.commands) {
      const certain = this.#isCalm ? getDepthOrExit(statement, depth) : undefined
      const after = this.visit(statement, { ...context, depth, level })
      depth = this.#isCalm && certain !== undefined ? certain : Math.min(depth, after)
    }
    const closing = this.#isCalm ? findClosingMove(node, context.depth) : undefined
    const last = this.commands.at(-1)
    if (closing !== undefined && last?.node === closing.node)
      this.commands.splice(-1, 1, { ...last, closingDepth: closing.depth })
    return depth
  }

  #visitCommand(node: Command, context: NodeContext): number {
    const redirectedInput = this.#findInput(node.redirects)
    const stdin = redirectedInput ?? context.stdin
    // Another reader may run before or after it: with two redirections, either may apply.
    if (isExec(node) && redirectedInput !== undefined)
      this.input = this.input === undefined ? redirectedInput : () => UNKNOWN
    this.commands.push({ node, redirects: node.redirects, depth: context.depth, stdin })
    this.#hasAlias ||= node.name?.value === 'alias'
    this.#isCalm &&= isCalm(node)
    if (canAssignUnseen(node)) this.variables.distrust()
    this.#visitChildren(node, context)
    return Math.min(context.depth, getDepthAfter(node, context.depth))
  }

  /** After `cd a &&` the rest runs in `a`; after `cd a ||` or `;` it may as well not. */
  #visitChain({ commands, operators }: AndOr, context: NodeContext): number {
    let [depth, worst] = [context.depth, context.depth]
    for (const [index, command] of commands.entries()) {
      const after = this.visit(command, { ...context, depth, level: context.level + 1 })
      worst = Math.min(worst, after)
      if (operators[index] !== '&&') depth = worst
      else depth = command.type === 'Command' ? getDepthAfter(command, depth) : Math.min(depth, after)
    }
    return worst
  }

  #visitPipeline({ commands }: Pipeline, context: NodeContext): number {
    let depth = context.depth
    for (const [index, command] of commands.entries()) {
      const before = commands[index - 1]
      const stdin = before === undefined ? context.stdin : () => this.#predictOutput(before)
      depth = Math.min(depth, this.visit(command, { depth: context.depth, level: context.level + 1, stdin }))
    }
    return depth
  }

  /** Returns the output of a command whose name is not redefined. `cat <<EOF` copies its input. */
  #predictOutput(node: SyntaxNode): string {
    if (node.type !== 'Command' || this.#isRenamed(node.name?.value ?? '')) return UNKNOWN
    const isCat = node.name?.value === 'cat' && node.args.length === 0
    return (isCat ? this.#findInput(node.redirects)?.() : undefined) ?? predictOutput(node, this.variables)
  }

  /** True after `cat() { …; }` or `alias cat=…`: the name then means another command. */
  #isRenamed(name: string): boolean {
    return this.functions.has(name) || this.#hasAlias
  }

  /** Returns the input that redirections give a command. */
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

  /** Records what the shell reads as a number or a name: there it expands a subscript even if it was in quotes. */
  #evaluate(node: SyntaxNode): void {
    this.evaluatedTexts.push(...findEvaluatedTexts(node))
    this.evaluations.push(...findEvaluations(node))
    this.hasPrompt ||= isPrompt(node)
  }

  #assignIndirectly(node: SyntaxNode, { depth }: NodeContext): void {
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

/** True for `exec < f` without a program. */
function isExec({ name, args }: Command): boolean {
  return name?.value === 'exec' && args.length === 0
}

/** True if it redirects standard input, and not another descriptor as in `3<<< x`. */
function isInput({ type, operator, descriptor }: Redirection): boolean {
  if (descriptor === undefined) return type !== 'Redirect' || operator.startsWith('<')
  return descriptor.type === 'FileDescriptor' && descriptor.value === 0
}
