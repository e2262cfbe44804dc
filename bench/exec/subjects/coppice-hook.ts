import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openHome } from '../../../src/backends/vault/index.ts'
import { parseAgentEvent } from '../../../src/timeline/events/index.ts'
import { Timeline } from '../../../src/timeline/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { coppice, withHome } from '../coppice-program.ts'
import { prepareDirectory } from '../directories.ts'
import { HOOK_RECORDS, HOOK_SIZES } from '../hooks.ts'
import { getProcessorTime } from '../processor-time.ts'

const PASSES = 10
const QUICK = 20

/** Hooks of an agent: the processor time of one without changes, and the space of many with small ones. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const env = withHome(settings, 'hooks')
  for (const size of HOOK_SIZES) {
    recorder.progress(`a hook in ${size} files`)
    setWatch(env, false)
    recorder.note(`hook-${size}`, measureHook(prepareDirectory(size, settings), env))
    recorder.note(`hook-watched-${size}`, measureWatched(prepareDirectory(size, settings), env))
  }
  recorder.progress('records')
  recorder.note('hook-space', await measureSpace(settings))
}

/** Returns what a hook takes in all, with the start of Node: the least of a few. */
function measureHook(directory: string, env: NodeJS.ProcessEnv): number {
  // Hooks record the repository around a directory, and this one lies in that of the benchmark.
  mkdirSync(join(directory, '.git'), { recursive: true })
  const event = JSON.stringify(createEvent('PreToolUse', directory))
  const place = { cwd: directory, env }
  const hook = { argv: coppice([], 'hook', 'claude'), ...place, input: event }
  // The first one stores the directory. Files that are as new as that are compared once more.
  for (let pass = 0; pass < 2; pass++) getProcessorTime(hook)
  return Math.min(...Array.from({ length: PASSES }, () => getProcessorTime(hook)))
}

/** Returns what a hook takes while the watcher watches the directory. The first hooks let it begin. */
function measureWatched(directory: string, env: NodeJS.ProcessEnv): number {
  setWatch(env, true)
  try {
    return measureHook(directory, env)
  } finally {
    getProcessorTime({ argv: coppice([], 'daemon', 'stop'), cwd: directory, env })
  }
}

function setWatch({ COPPICE_HOME: home = '' }: NodeJS.ProcessEnv, watch: boolean): void {
  mkdirSync(home, { recursive: true })
  writeFileSync(join(home, 'config.toml'), `[undo]\nwatch = ${watch}\n`)
}

/** Returns the bytes that a home grows by records of small edits. */
async function measureSpace(settings: Settings): Promise<number> {
  const project = join(settings.directory, 'recorded')
  const path = join(settings.directory, 'recorded-home')
  mkdirSync(project)
  for (let file = 0; file < 100; file++) writeFileSync(join(project, `f${file}`), 'x\n'.repeat(200))
  let before = 0
  const count = settings.isQuick ? HOOK_RECORDS / QUICK : HOOK_RECORDS
  {
    await using home = await openHome({ path })
    const timeline = new Timeline({ path, open: async () => home }, project)
    const send = async (name: string) => {
      const event = parseAgentEvent('claude', JSON.stringify(createEvent(name, project)))
      if (event !== undefined) await timeline.receive(event)
    }
    await send('UserPromptSubmit')
    before = getSize(path)
    for (let record = 0; record < count; record++) {
      await send('PreToolUse')
      writeFileSync(join(project, `f${record % 100}`), `${record}\n${'x\n'.repeat(200)}`)
      await send('PostToolUse')
    }
  }
  const bytes = getSize(path) - before
  rmSync(project, { recursive: true })
  return (bytes * HOOK_RECORDS) / count
}

function createEvent(name: string, cwd: string): object {
  const call = { tool_name: 'Bash', tool_input: { command: 'make' }, tool_use_id: '1' }
  return { session_id: 's', cwd, hook_event_name: name, prompt: 'go', ...call }
}

function getSize(path: string): number {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}
