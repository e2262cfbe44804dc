import { execFileSync } from 'node:child_process'
import type { Recorder, Settings } from '../harness/benchmark.ts'
import type { Start } from './starts.ts'

const PASSES = 3
const KEYS = 1000
const QUICK_KEYS = 100
const NANOSECOND = 1e-9

/** A program that gets each key at once and writes it back. ^C ends it. */
export const ECHO: readonly string[] = ['sh', '-c', 'stty -icanon -echo; echo ready; exec cat']

/** Types keys one by one into a program at a terminal, and notes how long it takes until each is back. */
export function measureKeystrokes(start: Start, recorder: Recorder, { isQuick }: Settings): void {
  recorder.progress('key')
  const passes = Array.from({ length: PASSES }, () => typeKeys(start, isQuick ? QUICK_KEYS : KEYS))
  const fastestAt = (share: number) => Math.min(...passes.map((times) => findQuantile(times, share)))
  recorder.note('key', fastestAt(0.5))
  recorder.note('key-p95', fastestAt(0.95))
}

/** Returns the seconds that each key took, in ascending order. */
function typeKeys({ argv, cwd, env }: Start, count: number): number[] {
  const printed = execFileSync('python3', ['-c', TYPIST, String(count), ...argv], {
    cwd,
    env: env ?? process.env,
    encoding: 'utf8',
  })
  const times: number[] = JSON.parse(printed)
  if (times.length !== count) throw new Error(`'${argv.join(' ')}' returned ${times.length} of ${count} keys`)
  return times.map((time) => time * NANOSECOND).sort((one, other) => one - other)
}

function findQuantile(ascending: readonly number[], share: number): number {
  return ascending[Math.floor(ascending.length * share)] ?? Number.NaN
}

/** Runs a program at a pseudo-terminal, and prints how many nanoseconds each key took there and back. */
const TYPIST = `
import json, os, pty, sys, time
count, command = int(sys.argv[1]), sys.argv[2:]
child, terminal = pty.fork()
if child == 0: os.execvp(command[0], command)
shown = b''
while not (b'ready' in shown and shown.endswith(b'\\n')): shown += os.read(terminal, 4096)
times = []
for index in range(count):
    key = bytes([97 + index % 26])
    begun = time.perf_counter_ns()
    os.write(terminal, key)
    while os.read(terminal, 4096) != key: pass
    times.append(time.perf_counter_ns() - begun)
os.write(terminal, b'\\x03')
try:
    while os.read(terminal, 4096): pass
except OSError: pass
os.waitpid(child, 0)
print(json.dumps(times))
`
