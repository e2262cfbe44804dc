import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

type Stdio = readonly (number | 'ignore' | 'pipe' | 'ipc')[]

/** Close-on-exec flag of a descriptor, as Linux reports it. */
const O_CLOEXEC = 0o2000000

/**
 * Starts a program with the given descriptors alone; any other that it would inherit becomes `/dev/null`. The parent of
 * this process may have left descriptors open that Node does not close; through one of a directory, a program could
 * leave its confinement. On systems other than Linux the program inherits the others, too.
 */
export function spawnWithoutInheritedFds(
  file: string,
  args: readonly string[],
  { stdio, ...options }: SpawnOptions & { readonly stdio: Stdio },
): ChildProcess {
  const strays = listInheritableDescriptors(stdio.length)
  if (strays.length === 0) return spawn(file, args, { ...options, stdio: [...stdio] })
  // Node cannot close a descriptor for a child, but it can replace it.
  const devNull = openSync('/dev/null', 'r+')
  try {
    const all: Stdio[number][] = [...stdio]
    for (const stray of strays) {
      while (all.length < stray) all.push('ignore')
      all.push(devNull)
    }
    return spawn(file, args, { ...options, stdio: all })
  } finally {
    closeSync(devNull)
  }
}

/** Lists the descriptors from a number on that child processes inherit, in order. */
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
    // Closed since it was listed, such as the descriptor of the listing itself.
    return false
  }
}
