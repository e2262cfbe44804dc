import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type EngineName, openHome } from '../../src/backends/vault/index.ts'
import { sweepStaleMounts } from '../../src/fuse/index.ts'
import { type DiskOptions, LoopDisk } from '../support/loop-disk.ts'
import { whyNoLoopDisk } from '../support/tools.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount() ?? whyNoLoopDisk()
const DISK_MEGABYTES = 32
const FILE_BYTES = 100_000
/** LevelDB cannot be mounted. */
const DISKS: readonly (readonly [EngineName, string, DiskOptions])[] = [
  ['sqlite', 'ext4', { megabytes: DISK_MEGABYTES }],
  ['sqlite', 'ext4 with blocks of 1 KiB', { megabytes: DISK_MEGABYTES, blockBytes: 1024 }],
  ['sqlite', 'tmpfs', { megabytes: DISK_MEGABYTES, isMemory: true }],
  ['lmdb', 'ext4', { megabytes: DISK_MEGABYTES }],
  ['lmdb', 'ext4 with blocks of 1 KiB', { megabytes: DISK_MEGABYTES, blockBytes: 1024 }],
]

describe.skipIf(reason !== undefined)(`a mount on a full disk${reason ? `: ${reason}` : ''}`, () => {
  it.each(DISKS)(
    'on %s, of %s, refuses writes with ENOSPC, keeps closed files, and deletes',
    async (engine, _, options) => {
      using disk = new LoopDisk(options)
      const [home, directory] = [join(disk.path, 'home'), join(disk.path, 'mount')]
      mkdirSync(directory)
      await using server = await ServerProcess.start(home, directory, engine)
      const [written, refused] = fill(directory, 'a')
      // Another program takes what is left.
      takeAll(join(disk.path, 'ballast'))
      const [more, refusedToo] = fill(directory, 'b')
      expect(new Set([...refused, ...refusedToo])).toEqual(new Set(['ENOSPC']))
      expect(written.length).toBeGreaterThan(50)
      for (const file of [...written, ...more]) expect(readFileSync(file).length).toBe(FILE_BYTES)
      const removed = written.splice(0, 40)
      for (const file of removed) rmSync(file)
      // What is cut in the middle stores a little, and frees more.
      const [cut = '', emptied = ''] = written
      truncateSync(cut, FILE_BYTES * 0.8)
      truncateSync(emptied, 100)
      expect([cut, emptied].map((file) => readFileSync(file).length)).toEqual([FILE_BYTES * 0.8, 100])
      // The server is killed, and a mount on the full disk has the same files.
      await server.kill()
      await sweepStaleMounts()
      {
        await using _again = await ServerProcess.start(home, directory, engine)
        expect(readdirSync(directory).length).toBe(written.length + more.length)
        for (const file of written.slice(0, 10)) rmSync(file)
        removed.push(...written.splice(0, 10))
        expect(fill(directory, 'c')[1]).toContain('ENOSPC')
      }
      await sweepStaleMounts()
      await using opened = await openHome({ path: home, engine })
      const { bytes, givenBack } = await opened.gc({ keepHistory: new Date() })
      const vault = await opened.vault('v')
      for (const file of removed) expect(await vault.exists(`/${basename(file)}`)).toBe(false)
      for (const file of [...written, ...more]) expect(await vault.exists(`/${basename(file)}`)).toBe(true)
      expect(bytes).toBeGreaterThanOrEqual(40 * FILE_BYTES)
      // LMDB keeps its file, and uses what is free in it.
      if (engine === 'sqlite') expect(givenBack).toBeGreaterThan(30 * FILE_BYTES)
      await vault.write('/f1', Buffer.alloc(20 * FILE_BYTES, 'written where others were'))
      rmSync(join(disk.path, 'ballast'))
      await vault.write('/f0', 'room again')
    },
  )
})

describe.skipIf(whyNoMount() !== undefined)('the room of a mount', () => {
  it('is that of the disk, and of the quota where that is less', async () => {
    await using mounted = await MountedVault.create()
    const disk = statfsSync(mounted.home)
    const shown = statfsSync(mounted.path)
    expect(shown.bavail * shown.bsize).toBeLessThanOrEqual(disk.bavail * disk.bsize * 1.01)
    expect(shown.bavail * shown.bsize).toBeGreaterThan(disk.bavail * disk.bsize * 0.5)
    await using home = await openHome({ path: mounted.home })
    await (await home.vault('v')).quota.set({ bytes: 2 ** 20 })
    const limited = statfsSync(mounted.path)
    expect(limited.bavail * limited.bsize).toBeLessThanOrEqual(2 ** 20)
  })
})

/** Writes files until some in a row are refused: which were written, and how the others were refused. */
function fill(directory: string, prefix: string): readonly [written: string[], refused: string[]] {
  const [written, refused]: [string[], string[]] = [[], []]
  for (let inRow = 0, index = 0; inRow < 5; index++) {
    const file = join(directory, `${prefix}${index}`)
    try {
      writeFileSync(file, Buffer.alloc(FILE_BYTES, `${index} `))
      written.push(file)
      inRow = 0
    } catch (error) {
      refused.push(error instanceof Error && 'code' in error ? String(error.code) : String(error))
      rmSync(file, { force: true })
      inRow++
    }
  }
  return [written, refused]
}

/** Writes a file until the disk has no block left. */
function takeAll(path: string): void {
  const piece = Buffer.alloc(4096)
  try {
    for (;;) writeFileSync(path, piece, { flag: 'a' })
  } catch {
    // The disk is full.
  }
}
