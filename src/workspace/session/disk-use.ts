import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const KIBIBYTE = 1024

/** What a tree takes on disk, as far as it can be seen, and however deep it is: no path leads to what is too deep. */
export async function diskUse(path: string): Promise<number> {
  const { stdout } = await execute('du', ['-sk', '--', path], { env: { PATH: '/usr/bin:/bin' } }).catch(told)
  return (Number.parseInt(stdout, 10) || 0) * KIBIBYTE
}

/** It fails where a command removes what it was about to count, and tells the rest all the same. */
function told(error: unknown): { readonly stdout: string } {
  return { stdout: error instanceof Error && 'stdout' in error ? String(error.stdout) : '' }
}
