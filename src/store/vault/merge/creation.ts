import { emptyDirectory, type Files, inlineText } from '../../files/files.ts'
import type { Place } from '../../files/naming.ts'
import { storedContentOf } from '../content.ts'
import type { Draft } from './draft.ts'
import { hasLabels, mergeLabels } from './labels.ts'

/** Whether a directory is as any other: then it can be made on the way to something in it. */
export function isPlainDirectory(files: Files, number: number): boolean {
  const { type, mode, uid, gid } = files.inode(number)
  if (type !== 'directory' || mode !== emptyDirectory().mode || uid !== 0 || gid !== 0) return false
  return !hasLabels([files, number])
}

/** Makes a file of theirs anew in a free place, with all that hangs on it; of a directory, only itself. */
export function create(draft: Draft, theirs: Files, number: number, place: Place): number {
  const { type, mode, uid, gid, mtime, content } = theirs.inode(number)
  const path = draft.pathAt(place)
  if (type === 'directory') draft.perform({ op: 'mkdir', path, parents: false, mode })
  else if (type === 'symlink') draft.perform({ op: 'symlink', path, target: inlineText(content) })
  else if (type === 'other')
    draft.perform({ op: 'create', path, ...place, type, mode, uid, gid, text: inlineText(content) })
  else {
    const stored = storedContentOf(theirs, number)
    draft.perform({ op: 'write', path, content: stored, parents: false, mode, mtime })
  }
  const made = draft.at(place)
  if (made === undefined) throw new Error(`'${path}' was just made`)
  mergeLabels(draft, made, { base: undefined, theirs: [theirs, number], prefersTheirs: true })
  return made
}
