import type { LinkedDirectory, LinkedFork } from '../link/index.ts'
import { OverlayView } from '../session/index.ts'
import { LinkedWorkspace } from './linked-workspace.ts'
import type { MaskSettings } from './mask-settings.ts'
import { SessionMask } from './session-mask.ts'

/** A fork of a directory to view. */
export interface ForkViewOptions {
  readonly link: LinkedDirectory
  readonly fork: LinkedFork
  /** Directory for the files of open sessions. */
  readonly sessions: string
  /** Files whose values programs do not see; none when absent. */
  readonly mask?: MaskSettings | undefined
}

/** The files of a fork at one moment, for programs that only read. */
export interface ForkView {
  readonly files: OverlayView
  /** Real files outside of the directory to hide, because the fork has placeholders for their values. */
  readonly hiddenOutside: readonly string[]
}

/** Opens a view of a fork as it is now. Throws ENOTSUP if this host cannot mount an overlay. */
export async function openForkView({ link, fork, sessions, mask }: ForkViewOptions): Promise<ForkView> {
  await using baseline = await new LinkedWorkspace(link, { fork, name: fork.name }).baseline()
  const { session } = baseline
  const secrets = mask && (await SessionMask.create(mask, link.path, session))
  const files = await OverlayView.open(secrets?.coverBase(session) ?? session, sessions)
  return { files, hiddenOutside: secrets?.linkedPaths ?? [] }
}
