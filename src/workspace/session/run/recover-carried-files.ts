import { isErrno } from '../../../machine/index.ts'
import { type FileCopy, readHostCopy } from '../../isolation/index.ts'
import { type LeftFile, readCarriedList, removeCarriedList } from './carried-list.ts'
import { replaceFile } from './replace-file.ts'

/**
 * Carries the files of the home that a killed command changed, such as the login of an agent, once. Every process of the
 * command must have ended. Throws ENOSPC on a full disk: a later call tries again.
 *
 * @param directory of the session.
 */
export function recoverCarriedFiles(directory: string): void {
  for (const file of readCarriedList(directory)) {
    try {
      carry(file)
    } catch (error) {
      if (isErrno(error, 'ENOSPC', 'EDQUOT')) throw error
      // Another file that cannot be replaced, such as one of a directory that is gone, is never carried.
    }
  }
  removeCarriedList(directory)
}

function carry({ mode, host, layer, kept, existed }: LeftFile): void {
  const copy = layer.read()
  if (mode === 'share') {
    const current = readHostCopy(host)
    // A login that somebody has removed meanwhile does not come back.
    const isRemoved = existed && current === undefined
    if (copy !== undefined && !isRemoved && isNewer(copy, current))
      replaceFile(host, { ...copy, mode: current?.mode ?? copy.mode })
    // A later command in the same layer gets the real file.
    layer.remove()
  } else if (
    kept !== undefined &&
    copy !== undefined &&
    !isCutOff(copy, readHostCopy(kept) ?? readHostCopy(host))
  )
    replaceFile(kept, copy)
}

/** True if a file was written after the one of this machine, and completely. */
function isNewer(copy: FileCopy, current: FileCopy | undefined): boolean {
  const isChanged =
    current === undefined ||
    (copy.mtimeMs > current.mtimeMs && !Buffer.from(copy.bytes).equals(current.bytes))
  return isChanged && !isCutOff(copy, current)
}

/** True if the kill may have come while the file was written: it is empty, or no JSON any more. */
function isCutOff({ bytes }: FileCopy, before: FileCopy | undefined): boolean {
  return bytes.length === 0 || (before !== undefined && isJson(before.bytes) && !isJson(bytes))
}

function isJson(bytes: Uint8Array): boolean {
  try {
    JSON.parse(Buffer.from(bytes).toString('utf8'))
    return true
  } catch {
    return false
  }
}
