import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { isolationEnvironment, probeNamespaces } from '../isolation/index.ts'

const execute = promisify(execFile)
const KIBIBYTE = 1024
/** A user is not kept from what is their own where they are root, whatever its permissions say. */
const AS_OWN_ROOT = ['unshare', '--user', '--map-root-user', '--'] as const

/** What a tree takes on disk, however deep it is and whoever is shut out: no path leads to what is too deep. */
export async function measureDiskUse(path: string): Promise<number> {
  const { privilege } = await probeNamespaces()
  const words = [...(privilege === 'user' ? AS_OWN_ROOT : []), 'du', '-sk', '--', path]
  const [file = '', ...args] = words
  const { stdout } = await execute(file, args, { env: isolationEnvironment }).catch(getPartialOutput)
  return (Number.parseInt(stdout, 10) || 0) * KIBIBYTE
}

/** It fails where a command removes what it was about to count, and tells the rest all the same. */
function getPartialOutput(error: unknown): { readonly stdout: string } {
  return { stdout: error instanceof Error && 'stdout' in error ? String(error.stdout) : '' }
}
