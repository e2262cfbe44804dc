import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { root } from '../support/run-node.ts'

const require = createRequire(import.meta.url)
const SUITE = require.resolve('@modelcontextprotocol/conformance/dist/index.js')
const NO_FAILURES = join(root, 'test/mcp/expected-failures.yml')

describe('the server core', () => {
  it('passes the official conformance suite without exceptions', async () => {
    const run = await conformance('--expected-failures', NO_FAILURES)
    expect(run, run.stdout).toMatchObject({ code: 0 })
    expect(run.stdout).toMatch(/Total: (?:[4-9]\d|\d{3,}) passed, 0 failed/)
  })

  it('keeps keywords of JSON Schema 2020-12, which the suite does not check yet', async () => {
    const run = await conformance('--scenario', 'json-schema-2020-12')
    expect(run, run.stdout).toMatchObject({ code: 0 })
  })
})

/** Runs the suite against our fixture server, in its own directory, where it leaves its results. */
async function conformance(...args: string[]): Promise<{ code: number | null; stdout: string }> {
  const cwd = mkdtempSync(join(tmpdir(), 'coppice-conformance-'))
  const url = await fixtureServer()
  const child = spawn(process.execPath, [SUITE, 'server', '--url', url, ...args], { cwd })
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    stdout += chunk
  })
  const [code] = await once(child, 'close')
  return { code, stdout }
}

async function fixtureServer(): Promise<string> {
  const server = spawn(
    process.execPath,
    ['--conditions=coppice-source', join(root, 'test/mcp/conformance-server.ts')],
    { cwd: root, env: { ...process.env, NODE_OPTIONS: '' }, stdio: ['pipe', 'pipe', 'inherit'] },
  )
  onTestFinished(async () => {
    server.stdin.end()
    if (server.exitCode === null) await once(server, 'close')
  })
  const [url] = await once(createInterface(server.stdout), 'line')
  return url
}
