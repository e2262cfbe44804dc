import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type AgentKernel, openKernel } from '../../src/agent-kernel/index.ts'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { openWebUi } from '../../src/web-server/index.ts'
import { WebClient } from './web-client.ts'

export const SECRET = 'hush-0123456789-very-secret'

export interface WebScene {
  readonly home: Home
  readonly agents: AgentKernel
  readonly boundary: Boundary
  readonly client: WebClient
  /** A directory of this machine, with a few files. */
  readonly project: string
  /** Runs a line of a shell in a fork of the project, and returns the name of the fork. */
  exec(line: string, fork?: string): Promise<string>
}

/** A home with a vault `base`, a kernel, and the page's server; all are gone after the test. */
export async function openWebScene(): Promise<WebScene> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-web-')))
  const [path, project] = [join(root, 'home'), join(root, 'project')]
  mkdirSync(project)
  writeFileSync(join(project, 'a.txt'), lines(1, 30))
  writeFileSync(join(project, 'b.txt'), 'b\n')
  mkdirSync(join(project, 'src'))
  writeFileSync(join(project, 'src', 'main.ts'), 'export const one = 1\n')
  const home = await openHome({ path })
  const base = await home.createVault('base')
  await base.write('/notes.txt', lines(1, 30))
  await base.write('/other.txt', 'other\n')
  const env = { PATH: process.env['PATH'] ?? '' }
  const agents = await openKernel({
    home,
    env: { COPPICE_TEST_TOKEN: SECRET },
    commands: { env },
    person: 'tester',
    defaults: { provider: 'script/play' },
  })
  const boundary = await Boundary.open(home, agents.redactor)
  const server = await openWebUi({ home, agents, version: '0', port: 0, page: root, commands: { env } })
  onTestFinished(async () => {
    await server.close()
    await agents.close()
    await home.close()
    rmSync(root, { recursive: true, force: true })
  })
  const exec = async (shell: string, fork?: string) => {
    const report = await boundary.run({ vault: project, command: { shell } }, { env, fork })
    if (report.fork === null) throw new Error('the command changed nothing')
    return report.fork
  }
  return { home, agents, boundary, project, exec, client: await WebClient.open(server.createLink()) }
}

/** Lines `line 1` and so on. */
export function lines(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, at) => `line ${from + at}\n`).join('')
}
