import type { DirectoryTree } from './directory-tree.ts'
import { HostTree } from './host-tree.ts'
import { createFileEntry, type LinkEntry, readEntry } from './link-entry.ts'

/** Returns the masked content of a file; undefined if it is not masked. */
export type MaskContent = (path: string, content: () => Uint8Array) => Uint8Array | undefined

/** A directory of this machine with placeholders in place of secret values. */
export class MaskedHostTree extends HostTree {
  readonly #mask: MaskContent

  constructor(path: string, mask: MaskContent) {
    super(path)
    this.#mask = mask
  }

  override findEntry(path: string): LinkEntry | undefined {
    return maskEntry(path, super.findEntry(path), this.#mask)
  }
}

/** Returns a directory with placeholders in place of secret values. */
export function maskTree(tree: DirectoryTree, mask: MaskContent): DirectoryTree {
  return {
    path: tree.path,
    findEntry: (path) => maskEntry(path, tree.findEntry(path), mask),
    isLink: (path) => tree.isLink(path),
    listNames: (path) => tree.listNames(path),
  }
}

function maskEntry(path: string, entry: LinkEntry | undefined, mask: MaskContent): LinkEntry | undefined {
  if (entry?.type !== 'file') return entry
  const masked = mask(path, () => readEntry(entry))
  return masked === undefined ? entry : createFileEntry(entry, masked)
}
