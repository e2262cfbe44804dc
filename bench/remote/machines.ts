import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Recorder } from '../harness/benchmark.ts'
import { WarmUpRecorder } from '../harness/recorder.ts'

export const MACHINES = 4

/** Processes that stand for machines. */
export interface MachineProcesses {
  /** The program of each, which makes as many commits as a message asks for, and answers when it is done. */
  readonly program: URL
  /** The arguments of each. */
  readonly args: readonly (readonly string[])[]
  /** Commits that each makes in a pass. */
  readonly commits: number
}

/** Measures commits of one machine, then of all: what they share is the database, and here also the cores. */
export async function measureMachines(
  recorder: Recorder,
  [one, all]: readonly [one: string, all: string],
  { program, args, commits }: MachineProcesses,
): Promise<void> {
  const machines = await Promise.all(args.map((words) => startMachine(program, words)))
  const measure = (round: Recorder, work: string, used: readonly ChildProcess[]) =>
    round.record(work, {
      operations: commits * used.length,
      expected: commits * used.length,
      pass: async () => {
        await Promise.all(used.map((machine) => commitOnMachine(machine, commits)))
        return commits * used.length
      },
    })
  await measure(new WarmUpRecorder(), all, machines)
  await measure(recorder, one, machines.slice(0, 1))
  await measure(recorder, all, machines)
  for (const machine of machines) machine.kill()
}

async function startMachine(program: URL, args: readonly string[]): Promise<ChildProcess> {
  const machine = fork(fileURLToPath(program), args, { execArgv: process.execArgv })
  await once(machine, 'message')
  return machine
}

async function commitOnMachine(machine: ChildProcess, commits: number): Promise<void> {
  const done = once(machine, 'message')
  machine.send(commits)
  await done
}
