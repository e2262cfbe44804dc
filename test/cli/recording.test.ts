import { expect, it } from 'vitest'
import { runNode } from '../support/run-node.ts'

it.skipIf(process.platform !== 'linux')(
  'the picture in the README shows what the commands print',
  async () => {
    expect(await runNode(['scripts/recording.js', '--check'])).toMatchObject({ code: 0, stderr: '' })
  },
)
