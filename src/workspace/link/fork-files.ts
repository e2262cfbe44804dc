import { join } from 'node:path'
import { removeTree } from '../session/index.ts'

const DIRECTORY = 'copies'

/** Returns the directory of a home with the files that forks keep beside their vaults, by the name of the fork. */
export function getForkFilesDirectory(home: string): string {
  return join(home, DIRECTORY)
}

/** Removes the files that a fork keeps beside its vault. */
export async function removeForkFiles(home: string | undefined, fork: string): Promise<void> {
  if (home !== undefined) await removeTree(join(getForkFilesDirectory(home), fork))
}
