import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import type { Recorder } from '../harness/benchmark.ts'

/** Seconds that a server may take until it is connected, beside the start of Node. */
export const CONNECT_SECONDS = 0.25

const PASSES = 8
const INITIALIZE = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'coppice-bench', version: '0.0.0' },
  },
})}\n`

/** A server as a client starts it. */
interface ServerProgram {
  /** Arguments for Node. */
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** Notes the time from the start of a server to its answer, less what `node -e 0` takes; both are measured in turn. */
export async function measureConnect(recorder: Recorder, program: ServerProgram): Promise<void> {
  const times: number[] = []
  const starts: number[] = []
  for (let pass = 0; pass < PASSES; pass++) {
    starts.push(measureNode())
    times.push(await connect(program))
  }
  recorder.note('mcp-connect', Math.min(...times) - Math.min(...starts))
}

function measureNode(): number {
  const before = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return (performance.now() - before) / 1000
}

async function connect({ args, cwd, env }: ServerProgram): Promise<number> {
  const before = performance.now()
  const server = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const closed = once(server, 'close')
  server.stdin.write(INITIALIZE)
  let answer = ''
  for await (const chunk of server.stdout.setEncoding('utf8')) {
    answer += chunk
    if (answer.includes('\n')) break
  }
  const time = (performance.now() - before) / 1000
  if (!answer.includes('protocolVersion')) throw new Error(`the server did not answer: ${answer}`)
  server.stdin.end()
  await closed
  return time
}
