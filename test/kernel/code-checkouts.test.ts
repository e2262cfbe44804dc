import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { CodeCheckouts } from '../../src/agent-kernel/code-checkouts.ts'
import { HostFs } from '../../src/backends/host/index.ts'
import { openHome } from '../../src/backends/vault/index.ts'
import type { WorkspaceCheckout } from '../../src/devices/lsp/index.ts'
import { Mutex } from '../../src/machine/index.ts'
import { SecretFiles } from '../../src/secrets/index.ts'
import { LinkedDirectory, LinkedFs } from '../../src/workspace/index.ts'
import { probeNamespaces } from '../../src/workspace/isolation/index.ts'

const SECRET = 'kingfisher-9c1d'
const { privilege } = await probeNamespaces()

/** Opens the code of a fork, with changes, as language servers see it. Returns the command line of a server. */
async function openCode(): Promise<WorkspaceCheckout['wrapCommand']> {
  const scratch = mkdtempSync(join(tmpdir(), 'coppice-code-'))
  const [path, project] = [join(scratch, 'home'), join(scratch, 'project')]
  mkdirSync(project)
  writeFileSync(join(project, '.env'), `API_KEY=${SECRET}\n`)
  writeFileSync(join(project, 'main.ts'), 'const old = 1\n')
  writeFileSync(join(project, 'removed.ts'), 'export {}\n')
  const home = await openHome({ path })
  const link = new LinkedDirectory(home, project)
  const fork = await link.startFork('task')
  const vault = await home.vault(fork.name)
  const directory = new HostFs(project)
  const files = new LinkedFs({ link, fork, vault, directory, mutex: new Mutex(), closed: [] })
  await files.write('/main.ts', 'const changed = 2\n')
  await files.remove('/removed.ts')
  const mask = { files: new SecretFiles() }
  const settings = { env: { PATH: '/usr/bin:/bin' }, isolation: 'strict', mask } as const
  const checkouts = new CodeCheckouts(home, join(scratch, 'code'), settings, async () => {})
  onTestFinished(async () => {
    await checkouts.drop(fork.name)
    await directory.close()
    await home.close()
    rmSync(scratch, { recursive: true, force: true })
  })
  return (await checkouts.open(fork.name)).wrapCommand
}

function run([program = '', ...args]: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

describe.skipIf(privilege === 'none')('the code of a fork of a directory', () => {
  it('has the changes of the fork, and placeholders for secrets', async () => {
    const wrap = await openCode()
    expect(run(wrap(['ls']))).toBe('main.ts\n')
    expect(run(wrap(['cat', 'main.ts']))).toBe('const changed = 2\n')
    expect(run(wrap(['cat', '.env']))).toMatch(/^API_KEY=.+\n$/)
    expect(run(wrap(['cat', '.env']))).not.toContain(SECRET)
  })

  it('serves several servers at once', async () => {
    const wrap = await openCode()
    const [program = '', ...args] = wrap(['sh', '-c', 'echo ready; cat'])
    const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    await once(server.stdout, 'data')
    expect(run(wrap(['cat', 'main.ts']))).toBe('const changed = 2\n')
    server.stdin.end()
    expect(await once(server, 'exit')).toEqual([0, null])
  })

  it('cannot be changed by a server', async () => {
    const wrap = await openCode()
    expect(() => run(wrap(['sh', '-c', 'echo x > main.ts']))).toThrow('Read-only file system')
  })
})
