import { findTool } from './isolation-tools.ts'
import { createNamespaceArgs, guessPrivilege, probeNamespaces } from './namespaces.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'
import { formatCommandLine, quoteWord } from './quote.ts'

const SUCCESS_MESSAGE = 'bubblewrap works'
let isKnownToWork = false

/**
 * Returns shell lines that probe bubblewrap in the background while `lines` run. Another probe of the host already
 * starts this shell, which saves the command a process of its own.
 */
export function createBubblewrapProbeLines(privilege: 'root' | 'user', lines: readonly string[]): string[] {
  if (isKnownToWork) return [...lines]
  return [
    `{ ${formatCommandLine(createProbeArgs(privilege))} 2>&- && echo ${quoteWord(SUCCESS_MESSAGE)}; } &`,
    ...lines,
    'wait',
  ]
}

/** Records that bubblewrap works, if the output of such lines reports success. */
export function readBubblewrapProbe(output: string): void {
  isKnownToWork ||= output.includes(SUCCESS_MESSAGE)
}

/** Records that bubblewrap works, which saves the probe. */
export function rememberBubblewrap(): void {
  isKnownToWork = true
}

export function isBubblewrapKnownToWork(): boolean {
  return isKnownToWork
}

/** Reports whether bubblewrap works on this host; probed once. */
export const probeBubblewrap: () => Promise<ProbeResult> = memoizeAsync(async () =>
  isKnownToWork ? { works: true } : await probe(),
)

export async function isBubblewrapUsable(): Promise<boolean> {
  return (await probeBubblewrap()).works
}

/** Probes with the likely privilege first. Only a failure asks which namespaces this host allows. */
async function probe(): Promise<ProbeResult> {
  if ((await findTool('bwrap')) === undefined) return { works: false, reason: 'bubblewrap is not installed' }
  const likely = guessPrivilege()
  const trial = await probeWithPrivilege(likely)
  isKnownToWork = trial.works
  if (trial.works) return trial
  const { privilege, reason } = await probeNamespaces()
  if (privilege === 'none') return { works: false, reason: reason ?? 'there are no namespaces' }
  return privilege === likely ? trial : probeWithPrivilege(privilege)
}

function probeWithPrivilege(privilege: 'root' | 'user'): Promise<ProbeResult> {
  return runProbe(createNamespaceArgs(privilege, '"$@"', createProbeArgs(privilege)))
}

function createProbeArgs(privilege: 'root' | 'user'): string[] {
  const user = privilege === 'user' ? ['--unshare-user', '--disable-userns', '--uid', '1', '--gid', '1'] : []
  const words = ['bwrap', ...user, '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc']
  return [...words, '--size', '4096', '--tmpfs', '/tmp', 'true']
}
