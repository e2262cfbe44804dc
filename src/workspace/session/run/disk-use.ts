import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isolationEnvironment, probeNamespaces } from '../../isolation/index.ts'

const execute = promisify(execFile)
const KIBIBYTE = 1024
/** As root of a user namespace, a user can read own files whatever their permissions are. */
const AS_OWN_ROOT = ['unshare', '--user', '--map-root-user', '--'] as const

/** Measures the disk use of a tree, also where permissions or the depth of a path prevent access. */
export async function measureDiskUse(path: string): Promise<number> {
  const { privilege } = await probeNamespaces()
  const words = [...(privilege === 'user' ? AS_OWN_ROOT : []), 'du', '-sk', '--', path]
  const [file = '', ...args] = words
  const { stdout } = await execute(file, args, { env: isolationEnvironment }).catch(getPartialOutput)
  return (Number.parseInt(stdout, 10) || 0) * KIBIBYTE
}

/** `du` fails if a command removes an entry during the count, but still prints the rest. */
function getPartialOutput(error: unknown): { readonly stdout: string } {
  return { stdout: error instanceof Error && 'stdout' in error ? String(error.stdout) : '' }
}
