import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROGRAM, startClient, tryCall } from '../mcp/mcp-client.ts'
import { Cli } from './run-cli.ts'

const SECRET = 'hush-hush-hush'
const CONFIGURED = 'plain-looking-value'
const TYPED = 'only-typed-here'
const environment = { DEPLOY_TOKEN: SECRET, SEARCH_DOOR: CONFIGURED }
const GATED = `curl --max-time 1 -H 'X: ${SECRET} ${CONFIGURED}' http://127.0.0.1:9/`

/** Creates a home whose configuration declares one more secret variable. */
async function prepared(): Promise<Cli> {
  const cli = new Cli()
  await cli.ok('vault', 'create', 'base')
  appendFileSync(join(cli.home, 'config.toml'), '\n[web]\nsearch_token_env = "SEARCH_DOOR"\n')
  return cli
}

/** Returns everything the boundary stores about runs and approvals. */
async function recordOf(cli: Cli): Promise<string> {
  const files = (await cli.ok('find', '/', '--vault', 'boundary')).trim().split('\n')
  const texts = files
    .filter((file) => /\.jsonl?$/.test(file))
    .map((file) => cli.ok('cat', file, '--vault', 'boundary'))
  return (await Promise.all(texts)).join('\n')
}

function expectNone(text: string): void {
  expect(text).toContain('[redacted]')
  for (const secret of [SECRET, CONFIGURED, TYPED]) expect(text).not.toContain(secret)
}

describe('a secret on a command line', () => {
  it('is in no record, list or envelope of coppice exec, and an approved command runs unchanged', async () => {
    const cli = await prepared()
    const run = (...args: string[]) => cli.run(['exec', '--vault', 'base', ...args], { env: environment })
    const typed = ['--env', `MY_PASSWORD=${TYPED}`, '-c', '--', `: ${TYPED}; ${GATED}; echo told ${SECRET}`]
    const { stderr } = await run(...typed)
    expectNone(stderr)
    const [, id = ''] = stderr.match(/coppice approve ([0-9a-f]{12})/) ?? []
    const listed = await cli.ok('approve')
    expectNone(listed)
    expect(listed).toContain(`: [redacted]; curl --max-time 1 -H`)
    await cli.ok('approve', id)
    const { stdout } = await run('--json', ...typed)
    const envelope: { result: { stdout: string } } = JSON.parse(stdout)
    expect(envelope.result.stdout).toBe(`told ${SECRET}\n`)
    expectNone(JSON.stringify({ ...envelope, result: { ...envelope.result, stdout: '' } }))
    expectNone(await recordOf(cli))
  })

  it('is in no record of coppice mcp', async () => {
    const cli = await prepared()
    const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
    const command = ['env', ...variables, ...PROGRAM, 'mcp']
    const { client } = await startClient(cli, ['--vault', 'base'], { command })
    const { text } = await tryCall(client, 'shell_exec', { command: `echo ${SECRET} ${CONFIGURED}` })
    expect(text).toContain(`${SECRET} ${CONFIGURED}`)
    const { isError } = await tryCall(client, 'shell_exec', {
      command: GATED,
      stdin: `${SECRET} ${CONFIGURED}`,
    })
    expect(isError).toBe(true)
    expectNone(await recordOf(cli))
    expectNone(await cli.ok('approve'))
  })
})
