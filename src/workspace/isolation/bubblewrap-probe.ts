import { findTool } from './isolation-tools.ts'
import { createNamespaceArgs, guessPrivilege, probeNamespaces } from './namespaces.ts'
import { memoizeAsync, type ProbeResult, runProbe } from './probe.ts'
import { formatCommandLine, quoteWord } from './quote.ts'

const SUCCESS_MESSAGE = 'bubblewrap works'
let isKnownToWork = false

/**
 * Lines of a shell, in an enclosure that is tried out anyway, which find out whether bubblewrap works in there while
 * `lines` are at work: to start one more program costs a command as much as all of these.
 */
export function createBubblewrapProbeLines(privilege: 'root' | 'user', lines: readonly string[]): string[] {
  return [
    `{ ${formatCommandLine(createProbeArgs(privilege))} 2>&- && echo ${quoteWord(SUCCESS_MESSAGE)}; } &`,
    ...lines,
    'wait',
  ]
}

/** Takes note of what such lines have said. */
export function rememberBubblewrap(said: string): void {
  isKnownToWork ||= said.includes(SUCCESS_MESSAGE)
}

/** Reports whether bubblewrap works on this host; probed once. */
export const probeBubblewrap: () => Promise<ProbeResult> = memoizeAsync(async () =>
  isKnownToWork ? { works: true } : await probe(),
)

export async function isBubblewrapUsable(): Promise<boolean> {
  return (await probeBubblewrap()).works
}

/** Tried where this host most likely can: mostly there is no need to find out first. */
async function probe(): Promise<ProbeResult> {
  if ((await findTool('bwrap')) === undefined) return { works: false, reason: 'bubblewrap is not installed' }
  const likely = guessPrivilege()
  const trial = await probeWithPrivilege(likely)
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
