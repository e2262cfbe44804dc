import { enclosed, findEnclosure } from './enclosure.ts'
import { findTool } from './tools.ts'
import { type Trial, tryOut } from './trial.ts'

let found: Promise<Trial> | undefined

/** Whether bubblewrap works on this host; found out once. */
export function tryBubblewrap(): Promise<Trial> {
  found ??= probe()
  return found
}

export async function isBubblewrapUsable(): Promise<boolean> {
  return (await tryBubblewrap()).works
}

async function probe(): Promise<Trial> {
  if ((await findTool('bwrap')) === undefined) return { works: false, reason: 'bubblewrap is not installed' }
  const { privilege, reason } = await findEnclosure()
  if (privilege === 'none') return { works: false, reason: reason ?? 'there are no namespaces' }
  const user = privilege === 'user' ? ['--unshare-user', '--disable-userns', '--uid', '1', '--gid', '1'] : []
  const words = ['bwrap', ...user, '--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', '--proc', '/proc']
  return tryOut(enclosed(privilege, '"$@"', [...words, '--size', '4096', '--tmpfs', '/tmp', 'true']))
}
