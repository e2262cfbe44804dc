import {
  type CommandNetwork,
  type CommandNetworkOptions,
  type HostRule,
  listListeningPorts,
  type NetworkUse,
  offlineEnvironment,
  openCommandNetwork,
  parseHostRule,
  type ResolveAddresses,
} from '../../network/index.ts'
import { VfsError } from '../../vfs/index.ts'
import { ForkNetwork, type IsolationPlan, probeNamespaces } from '../isolation/index.ts'
import {
  type ExecutionDecision,
  type ExecutionRequest,
  isConfinedToHosts,
  type PolicyRules,
} from '../policy/index.ts'
import type { RunningSession, RunOutcome } from '../session/index.ts'

/** Options about the network of a command. */
export interface NetworkOptions {
  /** Hosts that somebody who may do so has allowed, in addition to those of the policy. */
  readonly allowedHosts?: readonly HostRule[] | undefined
  /** Resolves the names of allowed hosts; those of this machine when absent. */
  readonly resolveHost?: ResolveAddresses | undefined
  /** A session of another process, whose network the command shares. */
  readonly join?: RunningSession | undefined
  /** Gives the command no network, whatever policy, grants or an approval allow. */
  readonly isOffline?: boolean | undefined
}

/**
 * Returns the policy with all hosts that a command may reach. None on a host that cannot isolate: there a command would
 * reach everything, which needs an approval. Throws ENOTSUP for a request that asks for hosts there.
 */
export async function addAllowedHosts(
  { vault, isolation, hosts = [] }: ExecutionRequest,
  policy: PolicyRules = { rules: [] },
  allowed: readonly HostRule[] = [],
): Promise<PolicyRules> {
  const all = [...(policy.hosts ?? []), ...allowed]
  if (all.length === 0 && hosts.length === 0) return policy
  if (await canIsolate(isolation)) return { ...policy, hosts: all }
  if (hosts.length === 0) return { ...policy, hosts: [] }
  const detail = 'without isolation, a command cannot be confined to hosts; ask for the whole network instead'
  throw new VfsError('ENOTSUP', vault, { op: 'exec', detail })
}

/** Reports whether this host isolates a command of this level. */
export async function canIsolate(level: ExecutionRequest['isolation'] = 'auto'): Promise<boolean> {
  return level !== 'none' && (await probeNamespaces()).privilege !== 'none'
}

/** The network of one run: all of it, some hosts, or none. */
export class ExecutionNetwork implements AsyncDisposable {
  readonly #hosts: CommandNetwork | undefined
  readonly #isWhole: boolean
  readonly #isIsolated: boolean
  readonly #notices: readonly string[]

  private constructor(
    scope: { readonly isWhole: boolean; readonly isIsolated: boolean },
    hosts?: CommandNetwork,
    notices: readonly string[] = [],
  ) {
    this.#isWhole = scope.isWhole
    this.#isIsolated = scope.isIsolated
    this.#hosts = hosts
    this.#notices = notices
  }

  /**
   * Opens the network for a request that may run.
   *
   * @param policy with all allowed hosts.
   * @param onNotice receives a line for the person, such as about a host that cannot be reached.
   */
  static async open(
    request: ExecutionRequest,
    decision: ExecutionDecision,
    policy: PolicyRules,
    { resolveHost, join, inject, isOffline = false }: NetworkOptions & Pick<CommandNetworkOptions, 'inject'>,
    onNotice: (line: string) => unknown,
  ): Promise<ExecutionNetwork> {
    const isIsolated = request.isolation !== 'none'
    if (isOffline) return new ExecutionNetwork({ isWhole: false, isIsolated })
    if (!isConfinedToHosts(request, policy)) {
      const isWhole = request.network || decision.categories.includes('networked')
      return new ExecutionNetwork({ isWhole, isIsolated })
    }
    const notices: string[] = []
    const takenPorts = join === undefined ? [] : listTakenPorts(join)
    const options = {
      rules: [...(policy.hosts ?? []), ...(request.hosts ?? []).map(parseHostRule)],
      resolve: resolveHost,
      inject,
      onProblem: (text: string) => {
        const line = `coppice: ${text}\n`
        notices.push(line)
        onNotice(line)
      },
    }
    const hosts = await openCommandNetwork(options, takenPorts)
    return new ExecutionNetwork({ isWhole: false, isIsolated }, hosts, notices)
  }

  /** Parts of the isolation plan. */
  get plan(): Pick<IsolationPlan, 'network' | 'listener' | 'files'> {
    if (this.#hosts === undefined) return { network: this.#isWhole }
    const { listener, files } = this.#hosts
    return { network: this.#isWhole, listener, files }
  }

  /** Variables of the command, which those of a request override. */
  get env(): Readonly<Record<string, string>> {
    if (this.#hosts !== undefined) return this.#hosts.env
    return this.#isWhole || !this.#isIsolated ? {} : offlineEnvironment
  }

  /** Variables for which those of the person win. */
  get defaults(): Readonly<Record<string, string>> {
    return this.#hosts?.defaults ?? {}
  }

  /** Lists the connections; undefined where no host was allowed. */
  listConnections(): NetworkUse[] | undefined {
    return this.#hosts?.listConnections()
  }

  /** Adds the lines about hosts without a connection to the recorded errors of a command, where an agent reads them. */
  addNotices(outcome: RunOutcome): RunOutcome {
    if (this.#notices.length === 0) return outcome
    return { ...outcome, stderr: Buffer.concat([outcome.stderr, Buffer.from(this.#notices.join(''))]) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hosts?.[Symbol.asyncDispose]()
  }
}

/** Lists the ports on which programs of a running session listen already. */
function listTakenPorts({ pid }: RunningSession): number[] {
  const member = new ForkNetwork(pid).findProcess()
  return member === undefined ? [] : listListeningPorts(member)
}
