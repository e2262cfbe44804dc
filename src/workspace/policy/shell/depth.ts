import type { Command } from 'unbash'

/**
 * Returns the depth of the shell in the workspace after a command succeeds. Only `cd` and its like change it.
 * A move to a path that is not literal counts as a move to the root of the workspace.
 */
export function getDepthAfter({ name, args }: Command, depth: number): number {
  if (name?.value === 'popd') return 0
  if (name?.value !== 'cd' && name?.value !== 'pushd') return depth
  const target = args.find((arg) => arg.type !== 'Word' || !/^-[LPe@]+$/.test(arg.value))
  if (target?.type !== 'Word' || target.parts?.some((part) => !isPlain(part.type))) return 0
  return target.value.startsWith('/') || target.value === '-' ? 0 : Math.max(0, descend(target.value, depth))
}

/** Returns the depth that a relative path leads to; below zero as soon as it leaves the root on its way. */
export function descend(path: string, depth: number): number {
  let current = depth
  for (const name of path.split('/')) {
    if (name === '..') current--
    else if (name !== '' && name !== '.') current++
    if (current < 0) return current
  }
  return current
}

function isPlain(type: string): boolean {
  return type === 'Literal' || type === 'SingleQuoted' || type === 'AnsiCQuoted'
}
