/**
 * Tar and zip: archives in any file system as read-only file systems, and any file system as an archive. `open-tar.ts`
 * and `open-zip.ts` read the entries of an archive, `archive-fs.ts` serves them, `pack-…` write one. Invariant: an
 * entry whose name leads out of the archive, or through one of its links, is never served.
 */
export type { ArchiveFs } from './archive-fs.ts'
export type { ArchiveOptions, SkippedEntry } from './archive-tree.ts'
export { openTar, type TarOptions } from './open-tar.ts'
export { openZip } from './open-zip.ts'
export { type PackOptions, packTar, type TarPackOptions } from './pack-tar.ts'
export { packZip } from './pack-zip.ts'
export { type UnpackOptions, type UnpackReport, unpack } from './unpack.ts'
