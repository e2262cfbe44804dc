import type { Dentry } from '../../files/directory-entries.ts'
import { createDirectoryFields, toInlineText, type VaultFiles } from '../../files/vault-files.ts'
import { getStoredContent } from '../file-content.ts'
import type { MergeDraft } from './merge-draft.ts'
import { hasLabels, mergeLabels } from './merge-labels.ts'

/** Reports whether a directory has default attributes: then it can be created as a parent. */
export function isPlainDirectory(files: VaultFiles, number: number): boolean {
  const { type, mode, uid, gid } = files.getInode(number)
  if (type !== 'directory' || mode !== createDirectoryFields().mode || uid !== 0 || gid !== 0) return false
  return !hasLabels([files, number])
}

/** Creates their file at a free path with all its labels; of a directory, only itself. */
export function createFromTheirs(
  draft: MergeDraft,
  theirs: VaultFiles,
  number: number,
  dentry: Dentry,
): number {
  const { type, mode, uid, gid, mtime, content } = theirs.getInode(number)
  const path = draft.getPath(dentry)
  if (type === 'directory') draft.apply({ op: 'mkdir', path, parents: false, mode })
  else if (type === 'symlink') draft.apply({ op: 'symlink', path, target: toInlineText(content) })
  else if (type === 'other')
    draft.apply({ op: 'create', path, ...dentry, type, mode, uid, gid, text: toInlineText(content) })
  else {
    const stored = getStoredContent(theirs, number)
    draft.apply({ op: 'write', path, content: stored, parents: false, mode, mtime })
  }
  const created = draft.findInode(dentry)
  if (created === undefined) throw new Error(`'${path}' was just created`)
  mergeLabels(draft, created, { base: undefined, theirs: [theirs, number], prefersTheirs: true })
  return created
}
