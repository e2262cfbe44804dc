import {
  closeSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { sweepStaleMounts } from '../../src/fuse/index.ts'
import { MountedVault, whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount()
const content = Buffer.alloc(200_000, 'held open ')

describe.skipIf(reason !== undefined)(`files without a name${reason ? `: ${reason}` : ''}`, () => {
  it('that a killed server left are gone with the next mount, once nobody else serves the vault', async () => {
    await using mounted = await MountedVault.create()
    const empty = await filesIn(mounted.home)
    const directory = join(mounted.home, '../served')
    mkdirSync(directory)
    await using server = await ServerProcess.start(mounted.home, directory)
    const fd = removedFile(directory)
    await server.kill()
    expect(() => fstatSync(fd)).toThrow(/ENOTCONN|ECONNABORTED/)
    closeWithoutServer(fd)
    await sweepStaleMounts()
    expect(await filesIn(mounted.home)).toBe(empty + 1)
    const [first] = mounted.mounts
    const second = await mounted.mount()
    // The first mount is still there, and for all the second knows the file is open in it.
    expect(await filesIn(mounted.home)).toBe(empty + 1)
    await first?.unmount()
    await second.unmount()
    await mounted.mount()
    expect(await filesIn(mounted.home)).toBe(empty)
  })

  it('stay while a program has them open and other mounts come and go', async () => {
    await using mounted = await MountedVault.create()
    const fd = removedFile(mounted.path)
    const other = await mounted.mount()
    await other.unmount()
    await (await mounted.mount()).unmount()
    expect(fstatSync(fd)).toMatchObject({ nlink: 0, size: content.length })
    const read = Buffer.alloc(content.length)
    readSync(fd, read, 0, read.length, 0)
    expect(read.equals(content)).toBe(true)
    closeSync(fd)
  })
})

/** An open file that has content in the vault and no name. */
function removedFile(directory: string): number {
  const file = join(directory, 'removed')
  const fd = openSync(file, 'w+')
  writeSync(fd, content)
  unlinkSync(file)
  fsyncSync(fd)
  return fd
}

/** The descriptor is gone whatever is said about it. */
function closeWithoutServer(fd: number): void {
  try {
    closeSync(fd)
  } catch (error) {
    expect(error).toMatchObject({ code: expect.stringMatching(/^(ENOTCONN|ECONNABORTED)$/) })
  }
}

/** How many files a vault holds, with and without names. */
async function filesIn(path: string): Promise<number> {
  await using home = await openHome({ path })
  const { files, freeFiles } = (await home.posix('v')).statfs()
  return files - freeFiles
}
