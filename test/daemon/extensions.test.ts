import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AgentKernel, openKernel } from '../../src/agent-kernel/index.ts'
import { openHome } from '../../src/backends/vault/index.ts'

/** Opens the kernel of a home with a configuration and modules of extensions. */
async function open(config: string, modules: Readonly<Record<string, string>> = {}): Promise<AgentKernel> {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-extensions-'))
  writeFileSync(join(directory, 'config.toml'), config)
  mkdirSync(join(directory, 'extensions'))
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(directory, 'extensions', name), text)
  const home = await openHome({ path: directory })
  onTestFinished(async () => {
    await home.close()
    rmSync(directory, { recursive: true, force: true })
  })
  const agents = await openKernel({ home, env: {}, commands: { env: {} }, person: 'tester' })
  onTestFinished(() => agents.close())
  return agents
}

/** A model that calls one tool and ends with its answer, and the tool. */
const PARROT = `
const answer = async (request) => {
  const last = request.messages.at(-1)
  return last.role === 'tool'
    ? { content: last.content + ' of ' + request.model, tokens_used: 5 }
    : { content: '', tokens_used: 5, tool_calls: [{ id: '1', name: 'add', input: { one: 2, two: 3 } }] }
}
const model = {
  match: 'exact',
  open() {
    let response = ''
    return {
      write: async (bytes) => { response = JSON.stringify(await answer(JSON.parse(Buffer.from(bytes)))) },
      read: async () => { const bytes = Buffer.from(response); response = ''; return bytes },
      close: async () => {},
      stat: async () => ({ size: 0, modified: new Date() }),
    }
  },
}
export default {
  providers: { parrot: model },
  tools: {
    add: {
      description: 'Adds two numbers.',
      inputSchema: { type: 'object', properties: { one: { type: 'number' }, two: { type: 'number' } } },
      run: async (path, { one, two }) => ({ sum: one + two }),
    },
  },
}
`

describe('the configuration of processes', () => {
  it('names the default provider and model, limits, and modules with providers and tools', async () => {
    const config = `[processes]
provider = "parrot"
model = "polly"
max_steps = 3
budget = 1000
extensions = ["./extensions/parrot.mjs"]
`
    const agents = await open(config, { 'parrot.mjs': PARROT })
    const { pid, provider, model } = await agents.spawn({ intent: 'add' })
    expect({ provider, model }).toEqual({ provider: 'parrot', model: 'polly' })
    expect(await agents.wait(pid)).toMatchObject({ exit_code: 0, result: '{"sum":5} of polly', max_steps: 3 })
  })

  it.each([
    ['missing.mjs', '', /cannot be loaded.*missing\.mjs/s],
    ['wrong.mjs', 'export default 3', /devices, providers, tools/],
    ['other.mjs', 'export default { gadgets: {} }', /devices, providers, tools/],
  ])('refuses an extension that cannot be used: %s', async (name, text, problem) => {
    const modules = text === '' ? {} : { [name]: text }
    const opened = open(`[processes]\nextensions = ["./extensions/${name}"]\n`, modules)
    await expect(opened).rejects.toThrow(problem)
  })
})
