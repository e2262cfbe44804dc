import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { DaemonClient } from '../../../daemon/client/index.ts'
import { findRunningDaemon } from '../../access/daemon-access.ts'
import { launchDaemon } from '../../access/launch-daemon.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { applyStyle } from '../../framework/terminal.ts'
import { formatScene, type Scene } from './scene.ts'

const READING_TIME_MS = 2000

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
    },
    examples: ['coppice demo', 'coppice demo --fast --keep'],
  },
  async (call) => {
    const home = await mkdtemp(join(tmpdir(), 'coppice-demo-'))
    let client: DaemonClient | undefined
    try {
      const { runDemoScenes, prepareDemo } = await import('./demo-scenes.ts')
      await prepareDemo(home)
      client = await launchDaemon(home, () => findRunningDaemon(home))
      await printScenes(call, runDemoScenes(home, client, call.terminal))
      if (call.has('keep'))
        await call.output.writeLine(`The home is ${home}; try: coppice ps --all --home ${home}`)
    } finally {
      await client?.call('stop', {}).catch(() => {})
      await client?.closed
      if (!call.has('keep')) await rm(home, { recursive: true, force: true })
    }
  },
)

async function printScenes(
  call: CommandInvocation<'fast' | 'keep'>,
  scenes: AsyncIterable<Scene>,
): Promise<void> {
  const { output, terminal } = call
  if (call.isJson) {
    await output.writeValue(await Array.fromAsync(scenes))
    return
  }
  for await (const scene of scenes) {
    await output.writeLine(formatScene(scene, terminal))
    await output.flush()
    if (terminal.isInteractive && !call.has('fast'))
      await pause(READING_TIME_MS, null, { signal: terminal.signal })
  }
  await output.writeLine(
    `${applyStyle(terminal, 'green', 'Four agents, one merged result.')} Next: coppice spawn --help`,
  )
}
