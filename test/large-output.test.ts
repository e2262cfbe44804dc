import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runNode } from './support/run-node.ts'

const MAX_HELD_MIB = 50
/** A small nursery is collected often: what is held counts, not what waits to be collected. */
const FLAGS = ['--expose-gc', '--max-semi-space-size=1']

describe.runIf(process.platform === 'linux')('an output of 100 MiB', () => {
  it.each(['host', 'vault'])(
    `is cached and read with less than ${MAX_HELD_MIB} MiB more: %s`,
    async (kind) => {
      const directory = mkdtempSync(join(tmpdir(), 'large-output-'))
      try {
        const run = await runNode([...FLAGS, 'test/support/look-into-output.ts', kind, directory])
        expect(run).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Error') })
        const held: Record<string, number> = JSON.parse(run.stdout)
        expect(Object.keys(held)).toEqual(['keep', 'file_head', 'file_tail', 'file_lines', 'file_grep'])
        expect(Object.entries(held).filter(([, mebibytes]) => mebibytes >= MAX_HELD_MIB)).toEqual([])
      } finally {
        rmSync(directory, { recursive: true })
      }
    },
  )
})
