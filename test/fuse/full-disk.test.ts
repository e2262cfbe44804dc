import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LoopDisk } from '../support/loop-disk.ts'
import { whyNoLoopDisk } from '../support/tools.ts'
import { whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount() ?? whyNoLoopDisk()
const DISK_MEGABYTES = 32
const FILE_BYTES = 100_000

describe.skipIf(reason !== undefined)(`a mount on a full disk${reason ? `: ${reason}` : ''}`, () => {
  it('says ENOSPC, and has every file whose close succeeded', async () => {
    using disk = new LoopDisk(DISK_MEGABYTES)
    const directory = join(disk.path, 'mount')
    mkdirSync(directory)
    await using _server = await ServerProcess.start(join(disk.path, 'home'), directory)
    const [written, refused] = fill(directory)
    expect(new Set(refused)).toEqual(new Set(['ENOSPC']))
    expect(written.length).toBeGreaterThan(50)
    for (const file of written) expect(readFileSync(file).length).toBe(FILE_BYTES)
  })
})

/** Writes files until some in a row are refused: which were written, and how the others were refused. */
function fill(directory: string): readonly [written: string[], refused: string[]] {
  const [written, refused]: [string[], string[]] = [[], []]
  for (let inRow = 0, index = 0; inRow < 5; index++) {
    const file = join(directory, `f${index}`)
    try {
      writeFileSync(file, Buffer.alloc(FILE_BYTES, index))
      written.push(file)
      inRow = 0
    } catch (error) {
      refused.push(error instanceof Error && 'code' in error ? String(error.code) : String(error))
      inRow++
    }
  }
  return [written, refused]
}
