import type { HostFinding } from '../../workspace/session/index.ts'
import { describeError } from '../framework/errors.ts'
import { formatCount } from '../render/format-values.ts'

const FINDING_NAME = 'private home'

/** Reports whether other users can reach a home. First closes what was open. */
export async function inspectPrivacy(home: string): Promise<HostFinding> {
  const { restrictHomeAccess } = await import('../../backends/vault/index.ts')
  try {
    const { mended: closedNow, open, exposedBy: writableParents } = restrictHomeAccess(home)
    const repaired = closedNow.length > 0 ? [formatRepairedHome(closedNow)] : []
    if (open.length > 0) {
      const problem = `other users may read ${formatPlaces(open)}`
      return createPrivacyFinding([problem, ...repaired].join('; '), MOVE_HINT)
    }
    if (writableParents.length > 0) {
      const problem = `every user may write to ${formatPlaces(writableParents)} and could replace the home`
      return createPrivacyFinding([problem, ...repaired].join('; '), CHMOD_HINT)
    }
    return { name: FINDING_NAME, isAvailable: true, detail: repaired[0] ?? `only its owner may read ${home}` }
  } catch (error) {
    return createPrivacyFinding(describeError(error).message, 'name a home of your own with --home')
  }
}

const MOVE_HINT = 'move the home to a file system with permissions, or let its owner run coppice doctor'
const CHMOD_HINT = 'remove write permission for others: chmod o-w, or chmod +t'

/** Formats a message about a home that others could read until now. */
export function formatRepairedHome(mended: readonly string[]): string {
  const problem = `other users of this machine could read ${formatPlaces(mended)} until now`
  return `${problem}; now only the owner can; replace the credentials in the home`
}

function createPrivacyFinding(detail: string, remedy: string): HostFinding {
  return { name: FINDING_NAME, isAvailable: false, detail, remedy }
}

function formatPlaces([first = '', ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${formatCount(more.length, 'more place')}`
}
