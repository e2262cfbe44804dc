import { realpathSync } from 'node:fs'
import { Timeline } from '../../timeline/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { CommandError } from '../framework/errors.ts'
import { listAbove } from './enclosing-project.ts'
import { type OpenHome, withHome } from './home-access.ts'

/** The timeline of a directory, opened for one command. */
export interface OpenTimeline {
  readonly timeline: Timeline
  readonly directory: string
}

/** Opens the timeline of the working directory or of the nearest one around it. CommandError if there is none. */
export function withTimeline<Result>(
  call: CommandInvocation,
  work: (open: OpenTimeline) => Promise<Result>,
): Promise<Result> {
  return withHome(call, async (open) => work(findTimeline(open)))
}

function findTimeline({ home, path, config }: OpenHome): OpenTimeline {
  const here = realpathSync(process.cwd())
  for (const directory of listAbove(here)) {
    const timeline = new Timeline({ path, open: async () => home }, directory, config.undo ?? {})
    if (timeline.exists) return { timeline, directory }
  }
  throw new CommandError(
    `nothing is recorded for ${here}; record what an agent does with: coppice hooks install claude`,
  )
}
