import type { HostFinding } from '../workspace/session/index.ts'
import { describeError } from './errors.ts'
import { counted } from './wording.ts'

const NAME = 'private home'

/** Finds whether a home is closed to the other users of this machine, after what was open has been closed. */
export async function findPrivacy(home: string): Promise<HostFinding> {
  const { mendPrivacy } = await import('../backends/vault/index.ts')
  try {
    const { mended, open, exposedBy } = mendPrivacy(home)
    if (open.length > 0) return refused(`other users may read ${listed(open)}`, MOVE)
    if (exposedBy.length > 0) {
      return refused(`every user may change ${listed(exposedBy)}, and put another home in place`, SHUT)
    }
    const detail = mended.length > 0 ? mendedText(mended) : `only its owner may read ${home}`
    return { name: NAME, isAvailable: true, detail }
  } catch (error) {
    return refused(describeError(error).message, 'name a home of your own with --home')
  }
}

const MOVE = 'move the home to a file system that has permissions, or have its owner run coppice doctor'
const SHUT = 'take the permission to write from others: chmod o-w, or chmod +t'

/** That a home was open to others until now. */
export function mendedText(mended: readonly string[]): string {
  const what = `other users of this machine could read ${listed(mended)} until now`
  return `${what}; only the owner may from here on; replace the credentials that the home holds`
}

function refused(detail: string, remedy: string): HostFinding {
  return { name: NAME, isAvailable: false, detail, remedy }
}

function listed([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${counted(more.length, 'more place')}`
}
