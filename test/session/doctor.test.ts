import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Cli } from '../cli/run-cli.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay, whyNotNobody } from '../support/tools.ts'

const NOBODY = 65_534

describe('coppice doctor', () => {
  it('reports what this machine supports, and creates no home', async () => {
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
    'reports a user without a home directory, as every command does',
    () => {
      const cli = new Cli()
      const env = { ...process.env, NODE_OPTIONS: '', COPPICE_HOME: join(cli.scratch, 'not/here') }
      const run = (...args: string[]) => {
        const words = [join(root, 'bin/coppice.js'), ...args]
        const options = { uid: NOBODY, gid: NOBODY, cwd: '/', env, encoding: 'utf8' } as const
        return spawnSync(process.execPath, words, options)
      }
      chmodSync(cli.scratch, 0o755)
      const message =
        /^(?:coppice:|no {2,}home) +cannot use \S+\/not\/here as a home: EACCES.*; name another with --home or COPPICE_HOME$/m
      expect(run('doctor').stdout).toMatch(message)
      expect(run('exec', '--', 'true').stderr).toMatch(message)
    },
  )

  it('treats an empty HOME as missing, as every command does, and creates no home in the working directory', async () => {
    const cli = new Cli()
    await cli.run(['vault', 'list'], { env: { HOME: '', COPPICE_HOME: '' } })
    const { stderr } = await cli.run(['vault', 'info', 'none'], { env: { HOME: '', COPPICE_HOME: '' } })
    expect(stderr).not.toContain(cli.files)
    expect(readdirSync(cli.files)).toEqual([])
  })
})
