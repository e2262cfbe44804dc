import { join } from 'node:path'
import { VfsError } from '../../vfs/index.ts'
import { resolveConfinement } from './command-confinement.ts'
import type { IsolationPlan } from './isolation-plan.ts'
import {
  choosesBubblewrap,
  createConfiningArgs,
  createLimitedArgs,
  createNetworkLines,
  hasOwnNetwork,
  JOINED_FILE,
  type Launch,
  type LaunchSpec,
} from './launch.ts'
import { recordListenerPorts } from './listener-ports.ts'
import { findNamespacedProcess, probeNamespaces, sharesNetworkWith } from './namespaces.ts'
import { createOutputArgs, REDIRECT_STDERR } from './output-lines.ts'

/**
 * Returns how to start a command in the namespaces of a command that runs, with a confinement of its own. Throws ENOENT
 * if the running command has ended, ENOTSUP if this host needs bubblewrap for it and has none.
 *
 * @param pid the process that was started for the running command.
 */
export async function createJoinedLaunch(spec: LaunchSpec, pid: number): Promise<Launch> {
  const { privilege } = await probeNamespaces()
  const words = createLimitedArgs(spec.limits)
  // Nothing contains the command that runs, so there is nothing to join but its directory.
  if (privilege === 'none')
    return {
      argv: ['sh', '-c', createScript(), 'coppice', ...words],
      createsPipes: false,
      hasPidNamespace: false,
      mayLeaveProcesses: true,
    }
  const target = requireNamespacedProcess(spec.workspace, pid)
  const { plan } = spec
  const { listener } = plan
  const network = chooseNetwork(plan, target)
  if (network === 'fork' && listener !== undefined) recordListenerPorts(spec.directory, listener)
  const isConfined = plan.level !== 'none'
  const usesBubblewrap = isConfined && (await choosesBubblewrap(plan))
  const confining = isConfined ? await createJoinedArgs(spec, privilege, usesBubblewrap) : []
  const identity = privilege === 'user' ? ['--user', '--preserve-credentials'] : []
  const argv = [
    // Held until the command ends. It does not get the descriptor of the lock.
    ...['flock', '--shared', '--close', join(spec.directory, JOINED_FILE)],
    ...['nsenter', '--target', String(target), '--mount', '--pid', ...identity],
    ...(network === 'fork' ? ['--net', '--'] : ['--']),
    ...(network === 'own' ? ['unshare', '--net', '--'] : []),
    ...[
      'sh',
      '-c',
      createScript(network === 'own' || listener !== undefined ? createNetworkLines(plan) : []),
      'coppice',
      ...confining,
      ...words,
    ],
  ]
  return {
    argv: ['setpriv', '--pdeathsig', 'KILL', '--', ...(spec.createsPipes ? createOutputArgs(argv) : argv)],
    createsPipes: spec.createsPipes === true,
    // The namespace ends with the other command, not with this one.
    hasPidNamespace: false,
    // Bubblewrap has a namespace for the processes of its own.
    mayLeaveProcesses: !usesBubblewrap,
    ...(listener !== undefined && { listener }),
  }
}

/**
 * Chooses the network of a command that joins another. `fork` is the network of the running command: servers of one are
 * found by the other. `own` is a new one, where the running command reaches the whole network and this one may not.
 */
function chooseNetwork(plan: IsolationPlan, target: number): 'fork' | 'own' | 'machine' {
  if (!hasOwnNetwork(plan)) return 'machine'
  return sharesNetworkWith(target) ? 'own' : 'fork'
}

/** Returns the script that runs the command, after lines that prepare its network. */
function createScript(networkLines: readonly string[] = []): string {
  return ['set -e', REDIRECT_STDERR, ...networkLines, 'wait', 'set +e', 'cd /', '"$@"', 'exit $?'].join('\n')
}

async function createJoinedArgs(
  { mountLines: _mounting, placingLines: _placing, ...spec }: LaunchSpec,
  privilege: 'root' | 'user',
  usesBubblewrap: boolean,
): Promise<string[]> {
  if (privilege === 'user' && !usesBubblewrap) {
    const detail =
      'joining a command that runs needs bubblewrap here; install it, or wait for the end of the command'
    throw new VfsError('ENOTSUP', spec.workspace, { op: 'enter', detail })
  }
  return createConfiningArgs(resolveConfinement({ ...spec, privilege }), usesBubblewrap)
}

/** Returns the first process in the namespaces of a running command. Throws ENOENT if it has ended. */
function requireNamespacedProcess(workspace: string, pid: number): number {
  const found = findNamespacedProcess(pid)
  if (found !== undefined) return found
  const detail = 'the command in this fork has just ended; try again'
  throw new VfsError('ENOENT', workspace, { op: 'enter', detail })
}
