import { constants, fstatSync, ftruncateSync } from 'node:fs'
import { writeSome } from './atomic-write.ts'
import { type OpenHostFile, openHostFile } from './file-stream.ts'
import type { ConfinedPath } from './path-resolution.ts'

const { O_APPEND, O_CREAT, O_WRONLY } = constants
const NEW_FILE_MODE = 0o666

/** Opens a file for appending and creates it if it is missing. */
export function openToAppend(target: ConfinedPath): OpenHostFile {
  return openHostFile(target, O_WRONLY | O_APPEND | O_CREAT, NEW_FILE_MODE)
}

/**
 * Appends all of the bytes or none, and closes the file. The system normally takes them in one call, so that concurrent
 * appends do not mix.
 */
export async function appendAll(file: OpenHostFile, bytes: Uint8Array): Promise<void> {
  let written = 0
  try {
    while (written < bytes.length) written += await writeSome(file.descriptor, bytes, written)
  } catch (error) {
    undoPartialAppend(file, written)
    throw error
  } finally {
    file.descriptor.close()
  }
}

/** Truncates a partial append, for example on a full disk, unless another process has appended after it. */
function undoPartialAppend({ descriptor, size }: OpenHostFile, written: number): void {
  if (written > 0 && fstatSync(descriptor.fd).size === size + written) ftruncateSync(descriptor.fd, size)
}
