import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay, whyNotNobody } from '../support/tools.ts'

const NOBODY = 65_534

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
    expect(readdirSync(cli.scratch)).toEqual(['files'])
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'says, as everything else does, where a user can have no home',
    () => {
      const cli = new Cli()
      const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: join(cli.scratch, 'not/here') }
      const run = (...args: string[]) => {
        const words = [join(root, 'bin/coppice.js'), ...args]
        const options = { uid: NOBODY, gid: NOBODY, cwd: '/', env, encoding: 'utf8' } as const
        return spawnSync(process.execPath, words, options)
      }
      chmodSync(cli.scratch, 0o755)
      const told =
        /^(?:coppice:|no {2,}home) +there can be no home in \S+\/not\/here: EACCES.*; name another with --home, or COPPICE_HOME$/m
      expect(run('doctor').stdout).toMatch(told)
      expect(run('exec', '--', 'true').stderr).toMatch(told)
    },
  )

  it('and every other command take an empty HOME for none, and make no home in the working directory', async () => {
    const cli = new Cli()
    await cli.run(['vault', 'list'], { env: { HOME: '', COPPICE_HOME: '' } })
    const { stderr } = await cli.run(['vault', 'info', 'none'], { env: { HOME: '', COPPICE_HOME: '' } })
    expect(stderr).not.toContain(cli.files)
    expect(readdirSync(cli.files)).toEqual([])
  })
})
