import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePrivateDirectory, PRIVATE_FILE_MODE } from '../../machine/index.ts'
import type { SessionChange } from '../session/index.ts'
import type { SessionMask } from './session-mask.ts'

/**
 * Returns changes with the real values in place of placeholders, in files of a new directory. Content that has no place
 * for the values any more becomes a change that cannot be kept: without them, the file would replace them.
 */
export function restoreMaskedChanges(
  changes: readonly SessionChange[],
  mask: SessionMask,
  directory: string,
): SessionChange[] {
  makePrivateDirectory(directory)
  return changes.map((change, index) => {
    if (change.kind === 'gone' || change.type !== 'file') return change
    const content = mask.restoreContent(change.path, () => readFileSync(change.host))
    if (content === undefined) return change
    if (content === 'lost') return { ...change, type: 'other' }
    const host = join(directory, String(index))
    writeFileSync(host, content, { mode: PRIVATE_FILE_MODE })
    // It is another file now than the one it was linked to.
    const { linkOf: _linkOf, ...rest } = change
    return { ...rest, host }
  })
}
