import { expect, it } from 'vitest'
import {
  Backend,
  type Capability,
  type DirEntry,
  MountTable,
  OverlayFs,
  ReadOnlyFs,
  type Stat,
  VfsError,
} from './index.ts'

/** A file system with no protocol besides reading and writing. */
class PlainFs extends Backend {
  readonly capabilities: ReadonlySet<Capability> = new Set(['read', 'write'])

  protected doStat(path: string): Stat {
    if (path === '/') return { type: 'directory', size: 0, mtime: new Date(0), mode: null }
    throw new VfsError('ENOENT', path, { op: 'stat' })
  }

  protected async *doReaddir(): AsyncGenerator<DirEntry> {}

  protected async *doRead(): AsyncGenerator<Uint8Array> {}
}

const plain = new PlainFs()

it.each([
  ['a mount table', () => new MountTable({ '/': plain }).symlink('a', '/b'), 'no symbolic links; copy'],
  ['a mount table', () => new MountTable({ '/': plain }).setattr('/', { mode: 0o644 }), 'modes or times'],
  ['an overlay', () => new OverlayFs(plain, plain).link('/a', '/b'), 'no hard links; copy'],
  ['a read-only layer', () => new ReadOnlyFs(plain).readlink('/a'), 'no symbolic links'],
  ['a read-only layer', async () => new ReadOnlyFs(plain).fork(), 'put an OverlayFs over it'],
  ['a file system', () => plain.mkdir('/a'), 'write a file, which creates its directories'],
  ['a backend that lacks a method', () => plain.remove('/a'), 'no method doRemove'],
])('%s says why it does not support an operation, and what to do instead', async (_name, run, reason) => {
  await expect(run()).rejects.toMatchObject({ code: 'ENOTSUP', message: expect.stringContaining(reason) })
})
