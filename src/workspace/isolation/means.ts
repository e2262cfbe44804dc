import { enclosed, findEnclosure, likelyPrivilege } from './enclosure.ts'
import { findTool } from './tools.ts'
import { foundOnce, type Trial, tryOut } from './trial.ts'

/** Whether bubblewrap works on this host; found out once. */
export const tryBubblewrap: () => Promise<Trial> = foundOnce(probe)

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
  const user = privilege === 'user' ? ['--unshare-user', '--disable-userns', '--uid', '1', '--gid', '1'] : []
  const words = ['bwrap', ...user, '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc']
  return tryOut(enclosed(privilege, '"$@"', [...words, '--size', '4096', '--tmpfs', '/tmp', 'true']))
}
