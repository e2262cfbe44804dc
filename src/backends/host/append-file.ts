import { constants, fstatSync, ftruncateSync } from 'node:fs'
import { writeSome } from './atomic-write.ts'
import type { ConfinedPath } from './confinement.ts'
import { type OpenHostFile, openHostFile } from './file-stream.ts'

const { O_APPEND, O_CREAT, O_WRONLY } = constants
const NEW_FILE_MODE = 0o666

/** Opens the file at a place to add to it, making it if it is missing. */
export function openToAppend(place: ConfinedPath): OpenHostFile {
  return openHostFile(place, O_WRONLY | O_APPEND | O_CREAT, NEW_FILE_MODE)
}

/** Adds all of the bytes to a file opened for it, or none, and closes it. One write, so appends do not mix. */
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

/** Takes a part back, on a disk that is full; but never what another process added after it. */
function undoPartialAppend({ descriptor, size }: OpenHostFile, written: number): void {
  if (written > 0 && fstatSync(descriptor.fd).size === size + written) ftruncateSync(descriptor.fd, size)
}
