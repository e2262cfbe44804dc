import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { DaemonClient } from '../../../daemon/client/index.ts'
import { findRunningDaemon } from '../../access/daemon-access.ts'
import { launchDaemon } from '../../access/launch-daemon.ts'
import { hasScreen, openBrowser } from '../../access/open-browser.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { applyStyle } from '../../framework/terminal.ts'
import { formatScene, type Scene } from './scene.ts'

const READING_TIME_MS = 2000
const RESPONSE_TIME_MS = 1500
/** Time to open another terminal, in which the processes are watched. */
const OPENING_TIME_MS = 10_000
/** Time in which a browser shows the page. */
const PAGE_TIME_MS = 3000

type DemoInvocation = CommandInvocation<'fast' | 'keep' | 'ui'>

export const demo: Command = defineCommand(
  {
    name: 'demo',
    summary: 'Watch scripted agents repair a project together',
    details: `A lead and its two children work on forks of a small project, and a reviewer on what they merged, in a
temporary home. Their responses are scripted; their processes, files, commands and merges are real.`,
    scope: 'none',
    options: {
      fast: { summary: 'Do not pause between scenes (never pauses when output is not a terminal)' },
      keep: { summary: 'Keep the home for a look around' },
      ui: { summary: 'Watch it in the browser, and look around there afterwards' },
    },
    examples: ['coppice demo --ui', 'coppice demo --fast --keep'],
  },
  async (call) => {
    const home = await mkdtemp(join(tmpdir(), 'coppice-demo-'))
    let client: DaemonClient | undefined
    try {
      const { runDemoScenes, prepareDemo } = await import('./demo-scenes.ts')
      await prepareDemo(home)
      client = await launchDaemon(home, () => findRunningDaemon(home))
      if (call.has('ui')) await openPage(call, client, home)
      else await showHowToWatch(call, home)
      const responseMs = isWatched(call) ? RESPONSE_TIME_MS : 0
      await printScenes(call, runDemoScenes(home, { client, responseMs }, call.terminal))
      if (call.has('keep'))
        await call.output.writeLine(`The home is ${home}; try: coppice ps --all --home ${home}`)
      if (call.has('ui')) await waitForInterrupt(call)
    } finally {
      await client?.call('stop', {}).catch(() => {})
      await client?.closed
      if (!call.has('keep')) await rm(home, { recursive: true, force: true })
    }
  },
)

/** Reports whether a person watches, who needs time to see what happens. */
function isWatched(call: DemoInvocation): boolean {
  return call.terminal.isInteractive && !call.isJson && !call.has('fast')
}

/** Opens the page of the home, and waits until a person has it in view. */
async function openPage(call: DemoInvocation, client: DaemonClient, home: string): Promise<void> {
  const { link } = await client.call('ui_open', {}, call.terminal.signal)
  if (call.isJson) return
  await call.output.writeLine(`Watch it in the browser:\n    ${link}\n`)
  await call.output.flush()
  if (!isWatched(call)) return
  const isOpened = hasScreen(process.env) && (await openBrowser(home, link))
  await pause(isOpened ? PAGE_TIME_MS : OPENING_TIME_MS, null, { signal: call.terminal.signal })
}

/** Waits for Ctrl-C at a terminal, because the page ends with the demo. */
async function waitForInterrupt({ output, terminal }: DemoInvocation): Promise<void> {
  if (!terminal.isInteractive) return
  await output.writeLine('Look around in the browser. Ctrl-C ends the demo.')
  await output.flush()
  if (!terminal.signal.aborted) await once(terminal.signal, 'abort')
}

/**
 * Prints the command that shows the processes live, and gives the person time to run it. Nothing if no person watches.
 */
async function showHowToWatch(call: DemoInvocation, home: string): Promise<void> {
  const { output, terminal } = call
  if (!isWatched(call)) return
  const program = process.env['npm_command'] === 'exec' ? 'npx coppice' : 'coppice'
  const command = applyStyle(terminal, 'bold', `${program} top --home ${home}`)
  const seconds = OPENING_TIME_MS / 1000
  await output.writeLine(
    `Watch it live in another terminal, it begins in ${seconds} seconds:\n    ${command}\n`,
  )
  await output.flush()
  await pause(OPENING_TIME_MS, null, { signal: terminal.signal })
}

async function printScenes(call: DemoInvocation, scenes: AsyncIterable<Scene>): Promise<void> {
  const { output, terminal } = call
  if (call.isJson) {
    await output.writeValue(await Array.fromAsync(scenes))
    return
  }
  for await (const scene of scenes) {
    await output.writeLine(formatScene(scene, terminal))
    await output.flush()
    if (isWatched(call)) await pause(READING_TIME_MS, null, { signal: terminal.signal })
  }
  await output.writeLine(
    `${applyStyle(terminal, 'green', 'Four agents, one merged result.')} Next: coppice spawn --help`,
  )
}
