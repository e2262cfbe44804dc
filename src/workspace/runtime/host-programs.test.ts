import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../backends/vault/index.ts'
import { LinkedDirectory } from '../link/index.ts'
import { parsePolicy } from '../policy/index.ts'
import { Approvals, execute, LinkedWorkspace } from './index.ts'

const policy = parsePolicy('policy.toml', '[[rule]]\naction = "allow"\nprogram = "npm"\nargs = "ci*"\n')

/** A project beside a directory of programs, and a function that runs `npm ci` with a PATH. */
async function openScene() {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-programs-')))
  const home = await openHome()
  onTestFinished(async () => {
    await home.close()
    rmSync(scratch, { recursive: true, force: true })
  })
  const project = join(scratch, 'project')
  mkdirSync(project)
  const approvals = new Approvals(await home.createVault('records'))
  const request = {
    vault: project,
    command: { shell: 'npm ci' },
    session: 'dir',
    isolation: 'none',
  } as const
  const run = async (
    directories: readonly string[],
    command: { readonly shell: string } = request.command,
  ) => {
    const path = [...directories, '/usr/bin', '/bin'].join(':')
    const result = await execute(
      { ...request, command },
      {
        open: async () => new LinkedWorkspace(new LinkedDirectory(home, project)),
        sessions: join(scratch, 'sessions'),
        approvals,
        policy,
        env: { PATH: path },
      },
    )
    return result.stdout
  }
  return { project, bin: join(scratch, 'bin'), approvals, run }
}

function writeProgram(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${text}\n`)
  chmodSync(file, 0o755)
}

describe('a program to which a rule grants the network', () => {
  it('is the one outside the workspace, whatever precedes it in the PATH', async () => {
    const { project, bin, run } = await openScene()
    writeProgram(join(bin, 'npm'), 'echo outside; helper')
    writeProgram(join(bin, 'helper'), 'echo helped outside')
    for (const name of ['npm', 'helper']) writeProgram(join(project, 'bin', name), 'echo inside')
    symlinkSync(join(project, 'bin'), `${bin}-link`)
    const directories = ['', '.', 'bin', join(project, 'bin'), `${bin}-link`, bin]
    expect(await run(directories)).toBe('outside\nhelped outside\n')
  })

  it('needs approval if it is a link into the workspace', async () => {
    const { project, bin, approvals, run } = await openScene()
    writeProgram(join(project, 'inside'), 'echo inside')
    mkdirSync(bin)
    symlinkSync(join(project, 'inside'), join(bin, 'npm'))
    await expect(run([bin])).rejects.toMatchObject({
      code: 'EACCES',
      detail: expect.stringContaining('in the workspace'),
    })
    expect(await approvals.list()).toHaveLength(1)
  })

  it('keeps the whole PATH once a person has approved the command', async () => {
    const { project, bin, approvals, run } = await openScene()
    writeProgram(join(bin, 'npm'), 'echo outside')
    writeProgram(join(project, 'bin/npm'), 'echo inside')
    const both = { shell: 'npm ci; npm test' }
    await expect(run([join(project, 'bin'), bin], both)).rejects.toMatchObject({ code: 'EACCES' })
    for (const { id } of await approvals.list()) await approvals.approve(id)
    expect(await run([join(project, 'bin'), bin], both)).toBe('inside\ninside\n')
  })
})
