import { dirname, resolve } from 'node:path'
import type { ComposedAgent, ComposedSupervisor, Composition } from '../../../compose/index.ts'
import type { DaemonClient, DaemonMethods } from '../../../daemon/client/index.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import type { ProcessInfo } from '../../render/process-format.ts'
import { readScript, toScriptError } from './process-script.ts'

/** Source of the processes of a composition. */
interface CompositionSource {
  readonly composition: Composition
  /** Its file; scripts are named from there. */
  readonly file: string
  /** Vault or directory that processes without a predecessor fork. */
  readonly workspace: string | undefined
}

/** Files and groups of a process. */
type ProcessStart = Pick<DaemonMethods['supervise']['params'], 'vault' | 'merge' | 'groups'>

/** Runs the processes of a composition in the daemon. */
export class ComposedProcesses {
  readonly #call: CommandInvocation
  readonly #client: DaemonClient
  readonly #source: CompositionSource
  /** Names of running processes by their number. */
  readonly #running = new Map<number, string>()

  constructor(call: CommandInvocation, client: DaemonClient, source: CompositionSource) {
    this.#call = call
    this.#client = client
    this.#source = source
  }

  /** Runs a process or a supervisor to its end, on the merged files of forks. */
  async run(
    name: string,
    node: ComposedAgent | ComposedSupervisor,
    forks: readonly string[],
  ): Promise<ProcessInfo> {
    const { composition, workspace } = this.#source
    const { signal, showsProgress, err } = this.#call.terminal
    const [vault = workspace, ...merge] = forks
    const start = { vault, merge, groups: [...(composition.groups ?? []), ...(node.groups ?? [])] }
    const { pid } =
      'children' in node ? await this.#supervise(name, node, start) : await this.#spawn(node, start)
    this.#running.set(pid, name)
    if (showsProgress) err.write(`${name} is ${'children' in node ? 'supervisor' : 'process'} ${pid}\n`)
    const ended = await this.#client.call('wait', { pid }, signal)
    this.#running.delete(pid)
    return ended
  }

  /** Throws after ^C, and prints what goes on without this command. */
  throwIfInterrupted(): void {
    const { signal, err } = this.#call.terminal
    const pids = [...this.#running.keys()]
    if (signal.aborted && pids.length > 0) {
      const names = [...this.#running].map(([pid, name]) => `${name} (process ${pid})`)
      const [go, them] = pids.length === 1 ? ['goes', 'it'] : ['go', 'them']
      err.write(
        `\n${names.join(', ')} ${go} on; what depends on ${them} does not start\nend ${them} with coppice kill ${pids.join(' ')}\n`,
      )
    }
    signal.throwIfAborted()
  }

  async #spawn(
    { depends_on: _, from: __, ...task }: ComposedAgent,
    start: ProcessStart,
  ): Promise<{ readonly pid: number }> {
    const params = { ...(await this.#loadScript(task)), ...start }
    return this.#client.call('spawn', params, this.#call.terminal.signal).catch((error: unknown) => {
      throw toScriptError(task.script, error)
    })
  }

  async #supervise(
    name: string,
    { depends_on: _, from: __, ...supervisor }: ComposedSupervisor,
    start: ProcessStart,
  ): Promise<{ readonly pid: number }> {
    const children = await Promise.all(supervisor.children.map((child) => this.#loadScript(child)))
    const params = { ...supervisor, ...start, name, children }
    return this.#client.call('supervise', params, this.#call.terminal.signal)
  }

  /** Replaces the name of a script by its text. CommandError. */
  async #loadScript<Task extends { readonly script?: string | undefined }>({
    script,
    ...task
  }: Task): Promise<
    Omit<Task, 'script'> & { readonly script?: Awaited<ReturnType<typeof readScript>> | undefined }
  > {
    if (script === undefined) return task
    return { ...task, script: await readScript(resolve(dirname(this.#source.file), script)) }
  }
}
