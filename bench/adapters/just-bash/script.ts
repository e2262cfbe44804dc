import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { Bash, type IFileSystem, InMemoryFs } from 'just-bash'
import { bashFileSystem } from '../../../src/adapters/just-bash/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { MemoryFs } from '../../../src/vfs/index.ts'
import type { Recorder, Settings } from '../../harness/benchmark.ts'

const COMMANDS = 1000
/** Number of lines that they print. */
const LINES = 500
const PASSES = 5

/** Typical commands of an agent's scripts: write, read, copy, move, clean up. Ten small commands for each number. */
const tenCommands = (n: number): readonly string[] => [
  `mkdir -p /w/d${n % 20}`,
  `echo "line ${n}" > /w/d${n % 20}/f${n}`,
  `echo more >> /w/d${n % 20}/f${n}`,
  `cat /w/d${n % 20}/f${n} | wc -l`,
  `cp /w/d${n % 20}/f${n} /w/c${n}`,
  `[ -f /w/c${n} ] && echo yes`,
  `sed -i s/line/row/ /w/c${n}`,
  `mv /w/c${n} /w/m${n}`,
  `ls /w/d${n % 20}`,
  `rm /w/m${n}`,
]

const script = Array.from({ length: COMMANDS / 10 }, (_, n) => tenCommands(n).join('\n')).join('\n')

/**
 * The same script on just-bash's own files in memory, on ours, and on a vault. They take turns, after a round that
 * does not count: most of the work is just-bash's own, and whoever came first would warm it up for the others.
 */
export async function measure(recorder: Recorder, { directory }: Settings): Promise<void> {
  await using home = await openHome({ path: await mkdtemp(join(directory, 'bash-')) })
  let vaults = 0
  const files: Readonly<Record<string, () => IFileSystem | Promise<IFileSystem>>> = {
    'bash-theirs': () => new InMemoryFs(),
    'bash-memory': () => bashFileSystem(new MemoryFs()),
    'bash-vault': async () => bashFileSystem(await home.createVault(`v${vaults++}`)),
  }
  const fastest = new Map<string, number>()
  for (let pass = 0; pass <= PASSES; pass++) {
    for (const [work, make] of Object.entries(files)) {
      recorder.progress(`${work}, pass ${pass} of ${PASSES}`)
      const seconds = await timeScript(await make())
      if (pass > 0) fastest.set(work, Math.min(seconds, fastest.get(work) ?? seconds))
    }
  }
  for (const [work, seconds] of fastest) recorder.note(work, seconds / COMMANDS)
}

async function timeScript(fs: IFileSystem): Promise<number> {
  const bash = new Bash({ fs, cwd: '/' })
  globalThis.gc?.()
  const startedAt = performance.now()
  const { stdout } = await bash.exec(script)
  const seconds = (performance.now() - startedAt) / 1000
  const lines = stdout.split('\n').length - 1
  if (lines !== LINES) throw new Error(`the script printed ${lines} lines, not ${LINES}`)
  return seconds
}
