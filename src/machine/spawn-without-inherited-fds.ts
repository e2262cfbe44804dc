import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

type Stdio = readonly (number | 'ignore' | 'pipe' | 'ipc')[]

/** Close-on-exec flag of a descriptor, as Linux reports it. */
const O_CLOEXEC = 0o2000000

/**
 * Starts a program with the descriptors it is given and no others. Whoever started this process may have left more open
 * in it than Node closes, a directory for example: through that a program would get out of whatever confines it.
 * On systems other than Linux it gets them all the same.
 */
export function spawnWithoutInheritedFds(
  file: string,
  args: readonly string[],
  { stdio, ...options }: SpawnOptions & { readonly stdio: Stdio },
): ChildProcess {
  const strays = listInheritableDescriptors(stdio.length)
  if (strays.length === 0) return spawn(file, args, { ...options, stdio: [...stdio] })
  // Node can close none for another program, but it can put something else in its place.
  const nothing = openSync('/dev/null', 'r+')
  try {
    const all: Stdio[number][] = [...stdio]
    for (const stray of strays) {
      while (all.length < stray) all.push('ignore')
      all.push(nothing)
    }
    return spawn(file, args, { ...options, stdio: all })
  } finally {
    closeSync(nothing)
  }
}

/** Descriptors from a number on that every program this process starts has, too, in their order. */
function listInheritableDescriptors(from: number): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor >= from && isInheritable(descriptor))
    .sort((one, other) => one - other)
}

function isInheritable(descriptor: number): boolean {
  try {
    const [, flags = ''] =
      readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1').match(/^flags:\s*(\d+)/m) ?? []
    return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch {
    // Closed since it was listed, as the listing itself is.
    return false
  }
}
