import { createHash } from 'node:crypto'
import type { PosixFiles } from '../../src/backends/vault/index.ts'

const ROOT = 1
/** Whatever happened later than this happened in a test, at a moment of its own. */
const BEFORE_TESTS = 1_600_000_000

/** Everything in a vault, as lines that do not differ from run to run: types, modes, times, content and second names. */
export function vaultTree(files: PosixFiles): string[] {
  const names = new Map<number, string>()
  const lines: string[] = []
  const visit = (directory: number, path: string) => {
    for (const { name, inode } of files.readdir(directory)) {
      const at = `${path}/${name}`
      const first = names.get(inode)
      names.set(inode, first ?? at)
      lines.push(`${at}: ${first === undefined ? factsOf(files, inode) : `is ${first}`}`)
      if (files.getattr(inode).type === 'directory') visit(inode, at)
    }
  }
  visit(ROOT, '')
  return lines
}

function factsOf(files: PosixFiles, ino: number): string {
  const { type, mode, mtime, size } = files.getattr(ino)
  if (type === 'symlink') return `symlink ${files.readlink(ino)}`
  const permissions = (mode & 0o7777).toString(8)
  if (type !== 'file') return `${type} ${permissions}`
  // A time that went through the machine comes back some nanoseconds off.
  const seconds = Math.round(mtime.seconds + mtime.nanos / 1e9)
  const content = createHash('sha256')
    .update(files.read(ino, 0, size))
    .digest('hex')
    .slice(0, 8)
  return `file ${permissions} ${size} ${content} ${seconds < BEFORE_TESTS ? seconds : 'now'}`
}
