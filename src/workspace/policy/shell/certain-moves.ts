import type { AndOr, Command, Script, Statement, SyntaxNode } from 'unbash'
import { getDepthAfter } from './depth.ts'

/** Builtins after which `cd` or `exit` may mean something else, or something runs when the shell ends. */
const REDEFINING = new Set(['.', 'alias', 'builtin', 'command', 'enable', 'eval', 'exec', 'source', 'trap'])

/** True for a command that cannot change what `cd` and `exit` do, nor what runs when the shell ends. */
export function isCalm({ name }: Command): boolean {
  if (name === undefined) return true
  return name.parts === undefined && name.text === name.value && !REDEFINING.has(name.value)
}

/**
 * Returns the depth after `cd a || exit`, behind which the shell is in `a` or has ended; undefined for any other
 * statement.
 */
export function getDepthOrExit({ command, background }: Statement, depth: number): number | undefined {
  if (background === true || command.type !== 'AndOr') return undefined
  const { operators, commands } = command
  const [move, exit, ...others] = commands
  if (operators[0] !== '||' || others.length > 0 || exit?.type !== 'Command' || !isExit(exit))
    return undefined
  return move?.type === 'Command' && isPlainMove(move) ? getDepthAfter(move, depth) : undefined
}

/**
 * Returns the last statement of a script if it is a `cd`, with the depth before it if all earlier moves succeed;
 * undefined where that is not certain. Nothing runs after it, wherever it leads.
 */
export function findClosingMove(
  { commands: statements }: Script,
  depth: number,
): { readonly node: Command; readonly depth: number } | undefined {
  const last = statements.at(-1)
  if (last === undefined || last.background === true || last.command.type !== 'Command') return undefined
  const node = last.command
  if (!isPlainMove(node) || node.redirects.length > 0) return undefined
  let current: number | undefined = depth
  for (const statement of statements.slice(0, -1)) {
    current = getDepthIfSuccessful(statement, current)
    if (current === undefined) return undefined
  }
  return { node, depth: current }
}

/** Returns the depth after a statement if its moves succeed; undefined if it has others than plain ones. */
function getDepthIfSuccessful(statement: Statement, depth: number): number | undefined {
  const { command, background } = statement
  if (background === true) return undefined
  if (command.type !== 'AndOr') return followMoves([command], depth)
  if (isAndChain(command)) return followMoves(command.commands, depth)
  return getDepthOrExit(statement, depth)
}

function isAndChain({ operators }: AndOr): boolean {
  return operators.every((operator) => operator === '&&')
}

function followMoves(commands: readonly SyntaxNode[], depth: number): number | undefined {
  let current = depth
  for (const command of commands) {
    if (command.type === 'Command' && isPlainMove(command)) current = getDepthAfter(command, current)
    else if (!staysInPlace(command)) return undefined
  }
  return current
}

/** True for a program, and for a pipeline of programs, which are processes of their own. */
function staysInPlace(node: SyntaxNode): boolean {
  if (node.type === 'Pipeline') return node.commands.every(staysInPlace)
  return node.type === 'Command' && !/^(?:cd|pushd|popd)$/.test(node.name?.value ?? '')
}

/** True for `cd a/b` and `cd ..`: one relative path without expansions, options or variables of its own. */
function isPlainMove({ name, prefix, args }: Command): boolean {
  const [target, ...others] = args
  if (name?.value !== 'cd' || prefix.length > 0 || others.length > 0) return false
  return target?.type === 'Word' && target.parts === undefined && /^[\w./][\w./+@-]*$/.test(target.value)
}

/** True for `exit` and `exit 1`. With more arguments, it fails and the shell goes on. */
function isExit({ name, prefix, args, redirects }: Command): boolean {
  if (name?.value !== 'exit' || prefix.length > 0 || redirects.length > 0 || args.length > 1) return false
  return args.every((arg) => arg.type === 'Word' && /^\d{1,3}$/.test(arg.text))
}
