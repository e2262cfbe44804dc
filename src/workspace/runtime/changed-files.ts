import type { Change } from '../../vfs/index.ts'
import type { ChangedFiles } from '../policy/index.ts'

/** Changes as lists of paths; what was renamed is gone from one and new at the other. */
export async function changedFiles(changes: AsyncIterable<Change> | Iterable<Change>): Promise<ChangedFiles> {
  const added: string[] = []
  const modified: string[] = []
  const deleted: string[] = []
  for await (const { kind, path, from } of changes) {
    if (kind === 'added' || kind === 'renamed') added.push(path)
    if (kind === 'modified') modified.push(path)
    if (kind === 'deleted') deleted.push(path)
    if (kind === 'renamed' && from !== undefined) deleted.push(from)
  }
  return { added: added.sort(), modified: modified.sort(), deleted: deleted.sort() }
}
