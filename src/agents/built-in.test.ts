import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { HostFs } from '../backends/host/index.ts'
import { AgentCatalog } from './index.ts'

const catalog = new AgentCatalog([
  { origin: 'package', fs: new HostFs(fileURLToPath(new URL('../..', import.meta.url))) },
])

it('the built-in agents and skills load, each with a description', async () => {
  const entries = [...(await catalog.agents()), ...(await catalog.skills())]
  expect(entries.map(({ name }) => name)).toEqual([
    'code-reviewer',
    'note-taker',
    'test-fixer',
    'code-review',
    'fix-tests',
    'take-notes',
  ])
  for (const entry of entries) {
    expect(entry).not.toHaveProperty('problem')
    expect(entry.description).toMatch(/^[A-Z].{20,}\.$/)
  }
})

it.each([
  ['code-reviewer', ['/dev/fs', '/dev/shell', '/dev/lsp']],
  ['test-fixer', ['/dev/fs', '/dev/shell', '/dev/lsp', '/dev/tasks']],
  ['note-taker', ['/dev/fs', '/dev/memory', '/dev/tasks', '/dev/tty']],
])('%s runs on any provider, with the devices of its skill', async (name, allowedDevices) => {
  const agent = await catalog.agent(name)
  expect(agent).toMatchObject({ provider: undefined, model: undefined, allowedDevices })
  expect(agent.systemPrompt.split('\n')[0]).toMatch(/^You /)
})
