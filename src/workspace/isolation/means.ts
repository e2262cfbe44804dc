import { enclosed, findEnclosure, likelyPrivilege } from './enclosure.ts'
import { commandLine, quote } from './quote.ts'
import { findTool } from './tools.ts'
import { foundOnce, type Trial, tryOut } from './trial.ts'

const WORKS = 'bubblewrap works'
let isSeen = false

/**
 * Lines of a shell, in an enclosure that is tried out anyway, which find out whether bubblewrap works in there while
 * `lines` are at work: to start one more program costs a command as much as all of these.
 */
export function alongBubblewrap(privilege: 'root' | 'user', lines: readonly string[]): string[] {
  return [`{ ${commandLine(trialWords(privilege))} 2>&- && echo ${quote(WORKS)}; } &`, ...lines, 'wait']
}

/** Takes note of what such lines have said. */
export function rememberBubblewrap(said: string): void {
  isSeen ||= said.includes(WORKS)
}

/** Whether bubblewrap works on this host; found out once. */
export const tryBubblewrap: () => Promise<Trial> = foundOnce(async () =>
  isSeen ? { works: true } : await probe(),
)

export async function isBubblewrapUsable(): Promise<boolean> {
  return (await tryBubblewrap()).works
}

/** Tried where this host most likely can: mostly there is no need to find out first. */
async function probe(): Promise<Trial> {
  if ((await findTool('bwrap')) === undefined) return { works: false, reason: 'bubblewrap is not installed' }
  const likely = likelyPrivilege()
  const trial = await tryIn(likely)
  if (trial.works) return trial
  const { privilege, reason } = await findEnclosure()
  if (privilege === 'none') return { works: false, reason: reason ?? 'there are no namespaces' }
  return privilege === likely ? trial : tryIn(privilege)
}

function tryIn(privilege: 'root' | 'user'): Promise<Trial> {
  return tryOut(enclosed(privilege, '"$@"', trialWords(privilege)))
}

function trialWords(privilege: 'root' | 'user'): string[] {
  const user = privilege === 'user' ? ['--unshare-user', '--disable-userns', '--uid', '1', '--gid', '1'] : []
  const words = ['bwrap', ...user, '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc']
  return [...words, '--size', '4096', '--tmpfs', '/tmp', 'true']
}
