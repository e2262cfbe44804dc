import {
  type AndOr,
  type Command,
  forEachChild,
  type Pipeline,
  parse,
  type Redirection,
  type SyntaxNode,
} from 'unbash'
import { depthAfter } from './depth.ts'
import { Variables } from './variables.ts'
import { expand, expandWhole, UNKNOWN } from './word.ts'

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
export interface Script {
  readonly commands: readonly SimpleCommand[]
  readonly variables: Variables
  /** Names that mean a function, whose body is among the commands. */
  readonly functions: ReadonlySet<string>
  /** Whether it asks with a menu. */
  readonly isInteractive: boolean
  /** What is wrong with its grammar. */
  readonly error: string | undefined
}

type Stdin = SimpleCommand['stdin']

/** Where a node stands. */
interface Surroundings {
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

/** Finds every simple command of a script, those in substitutions, functions and here-documents included. */
export function readScript(source: string, depth: number): Script {
  const reader = new ScriptReader()
  reader.visit(parse(source), { depth, level: 0, stdin: undefined })
  return reader
}

class ScriptReader implements Script {
  readonly commands: SimpleCommand[] = []
  readonly variables: Variables = new Variables()
  readonly functions: Set<string> = new Set()
  isInteractive = false
  error: string | undefined

  /** Takes in a node and what is below it; returns the depth that whatever comes after it starts from at worst. */
  visit(node: SyntaxNode, around: Surroundings): number {
    if (around.level > MAX_LEVEL) {
      this.error ??= 'it is nested too deeply'
      return 0
    }
    switch (node.type) {
      case 'Word':
        return node.parts === undefined ? around.depth : this.#children(node, around)
      case 'Script':
        this.error ??= node.errors?.[0]?.message
        return this.#children(node, around)
      case 'Pipeline':
        return this.#pipeline(node, around)
      case 'AndOr':
        return this.#chain(node, around)
      case 'Command':
        return this.#command(node, around)
      case 'Redirected': {
        const { redirects } = node
        this.commands.push({ node: undefined, redirects, depth: around.depth, stdin: around.stdin })
        return this.#children(node, { ...around, stdin: this.#fed(redirects) ?? around.stdin })
      }
      case 'Function':
        this.functions.add(node.name.value)
        return this.#children(node, { ...around, stdin: () => UNKNOWN })
      case 'For':
      case 'Select':
        this.variables.assign(node.name.value, UNKNOWN)
        this.isInteractive ||= node.type === 'Select'
        return this.#children(node, around)
      case 'Assignment':
        this.#assign(node)
        return this.#children(node, around)
      default:
        return this.#children(node, around)
    }
  }

  #children(node: SyntaxNode, around: Surroundings): number {
    const { stdin } = around
    const level = around.level + 1
    let inside: Surroundings = { depth: around.depth, level, stdin }
    forEachChild(node, (child) => {
      const depth = this.visit(child, inside)
      if (depth < inside.depth) inside = { depth, level, stdin }
    })
    return inside.depth
  }

  #command(node: Command, around: Surroundings): number {
    const stdin = this.#fed(node.redirects) ?? around.stdin
    this.commands.push({ node, redirects: node.redirects, depth: around.depth, stdin })
    if (ASSIGNING.has(node.name?.value ?? '') && !isPlainPrintf(node)) this.variables.distrust()
    this.#children(node, around)
    return Math.min(around.depth, depthAfter(node, around.depth))
  }

  /** After `cd a &&` the rest runs in `a`; after `cd a ||` or `;` it may as well not. */
  #chain({ commands, operators }: AndOr, around: Surroundings): number {
    let [depth, worst] = [around.depth, around.depth]
    for (const [index, command] of commands.entries()) {
      const after = this.visit(command, { ...around, depth, level: around.level + 1 })
      worst = Math.min(worst, after)
      if (operators[index] !== '&&') depth = worst
      else depth = command.type === 'Command' ? depthAfter(command, depth) : Math.min(depth, after)
    }
    return worst
  }

  #pipeline({ commands }: Pipeline, around: Surroundings): number {
    let depth = around.depth
    for (const [index, command] of commands.entries()) {
      const before = commands[index - 1]
      const stdin = before === undefined ? around.stdin : () => this.#written(before)
      depth = Math.min(depth, this.visit(command, { depth: around.depth, level: around.level + 1, stdin }))
    }
    return depth
  }

  /** What a command writes, if it only says what it is told to. */
  #written(node: SyntaxNode): string {
    if (node.type !== 'Command' || node.redirects.length > 0) return UNKNOWN
    const [name, ...args] = node.args.flatMap((arg, index) => [
      ...(index === 0 && node.name !== undefined ? expand(node.name, this.variables) : []),
      ...(arg.type === 'Word' ? expand(arg, this.variables) : [UNKNOWN]),
    ])
    if (name === 'echo') return args.filter((arg) => !/^-[neE]+$/.test(arg)).join(' ')
    return name === 'printf' && args.length === 1 ? (args[0] ?? '').replaceAll('\\n', '\n') : UNKNOWN
  }

  /** What redirections feed to a command. */
  #fed(redirects: readonly Redirection[]): Stdin {
    const last = redirects.findLast((one) => one.type !== 'Redirect' || one.operator.startsWith('<'))
    if (last === undefined) return undefined
    if (last.type === 'HereString') {
      const { target } = last
      return () => (target === undefined ? '' : expandWhole(target, this.variables))
    }
    if (last.type === 'Redirect' || last.body.parts?.some(({ type }) => type !== 'Literal'))
      return () => UNKNOWN
    return () => last.body.text
  }

  #assign(node: SyntaxNode): void {
    if (node.type !== 'Assignment') return
    const { name, value, append, index } = node
    const isPlain = value.type === 'Word' && !append && index === undefined
    this.variables.assign(name, isPlain ? expandWhole(value, this.variables) : UNKNOWN)
  }
}

/** `printf` assigns with `-v` only. */
function isPlainPrintf({ name, args }: Command): boolean {
  return name?.value === 'printf' && args[0]?.type === 'Word' && !args[0].value.startsWith('-')
}
