import { realpathSync } from 'node:fs'
import { Timeline } from '../../timeline/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError } from '../framework/errors.ts'
import { listAbove } from './enclosing-project.ts'
import { isHomeHidden } from './hidden-home.ts'
import { isHomeMissing, type OpenHome, resolveHomePath, withHome } from './home-access.ts'
import { findHomeUrl } from './home-path.ts'

/** The timeline of a directory, opened for one command. */
export interface OpenTimeline {
  readonly timeline: Timeline
  readonly directory: string
}

/** Opens the timeline of the working directory or of the nearest one around it. CommandError if there is none. */
export async function withTimeline<Result>(
  call: CommandInvocation,
  work: (open: OpenTimeline) => Promise<Result>,
): Promise<Result> {
  // The first event of an agent creates the home.
  const isLocal = findHomeUrl(call.option('home')) === undefined
  const home = isLocal ? await resolveHomePath(call) : undefined
  if (home !== undefined && isHomeMissing(home) && !isHomeHidden(call, home))
    throw createUnknownError(realpathSync(process.cwd()))
  return withHome(call, async (open) => work(findTimeline(open)))
}

function findTimeline({ home, path, config }: OpenHome): OpenTimeline {
  const here = realpathSync(process.cwd())
  for (const directory of listAbove(here)) {
    const timeline = new Timeline({ path, open: async () => home }, directory, config.undo ?? {})
    if (timeline.exists) return { timeline, directory }
  }
  throw createUnknownError(here)
}

function createUnknownError(directory: string): CommandError {
  return new CommandError(
    `nothing is recorded for ${directory} yet: an agent is, from its next session on, after: coppice hooks install claude; to undo the changes of a fork: coppice apply --undo`,
  )
}
