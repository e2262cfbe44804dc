import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import { whyNoOverlay } from '../support/tools.ts'

describe('coppice doctor', () => {
  it('says what this machine can do, and makes no home', async () => {
    const cli = new Cli()
    const can = whyNoOverlay() === undefined
    expect(await cli.json('doctor')).toMatchObject({
      session: can ? 'overlay' : 'dir',
      isolation: can ? 'strict' : 'none',
      findings: expect.arrayContaining([expect.objectContaining({ name: 'dir session', isAvailable: true })]),
    })
    const text = await cli.ok('doctor')
    for (const name of ['process limit', 'memory limit', 'landlock'])
      expect(text).toMatch(new RegExp(`^(?:yes|no) +${name} `, 'm'))
    expect(text).toMatch(/^yes {2,}dir session {2,}copies the directory/m)
    expect(existsSync(cli.home)).toBe(false)
  })
})
