import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type AgentKernel, type AgentKernelOptions, openKernel } from '../../src/agent-kernel/index.ts'
import { type Home, openHome } from '../../src/backends/vault/index.ts'

export interface Scene {
  readonly directory: string
  readonly home: Home
  readonly agents: AgentKernel
}

/** A home with a vault `base`, and its kernel; both are gone after the test. */
export async function openScene(
  env: Record<string, string> = {},
  forCommands: Record<string, string> = { PATH: process.env['PATH'] ?? '' },
  further: Pick<AgentKernelOptions, 'devices' | 'providers' | 'builtIn' | 'defaults'> = {},
): Promise<Scene> {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-kernel-'))
  const home = await openHome({ path: directory })
  const base = await home.createVault('base')
  await base.write('/notes.txt', 'begun\n')
  const agents = await openKernel({
    home,
    env,
    commands: { env: forCommands },
    person: 'tester',
    defaults: { provider: 'script/sum' },
    ...further,
  })
  onTestFinished(async () => {
    await agents.close()
    await home.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return { directory, home, agents }
}

/** A script whose entries say these things, one after the other. */
export function script(...sayings: unknown[]): { name: string; text: string } {
  return { name: 'play.ndjson', text: sayings.map((say) => `${JSON.stringify({ say })}\n`).join('') }
}

/** What a model says to have a tool called. */
export function call(tool: string, input?: unknown): object {
  return { action: 'tool_call', tool, input }
}
