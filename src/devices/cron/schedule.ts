import { Cron } from 'croner'
import { VfsError } from '../../vfs/index.ts'

/** Matches five fields, or a nickname such as `@daily`. */
const FIELDS = /^(?:@[a-z]+|\S+(?: \S+){4})$/
const HELP = 'five fields: minute hour day month weekday, such as `0 9 * * 1-5`, or @hourly, @daily, @weekly'

/** Returns the first time after `after` at which a schedule is due; undefined if there is none. */
export function findNextRun(schedule: string, timezone: string, after: Date): Date | undefined {
  return new Cron(schedule, { timezone, mode: '5-part', paused: true }).nextRun(after) ?? undefined
}

/** Normalizes the spaces of a schedule. EINVAL if it is malformed or never due, or if the time zone is unknown. */
export function parseSchedule(schedule: string, timezone: string, now: Date): string {
  const fields = schedule.trim().replaceAll(/\s+/g, ' ')
  if (!FIELDS.test(fields)) throw createScheduleError(`a schedule has ${HELP}`)
  assertTimezone(timezone)
  let next: Date | undefined
  try {
    next = findNextRun(fields, timezone, now)
  } catch (error) {
    throw createScheduleError(
      `the schedule '${fields}' is not valid: ${formatParseError(error)}. A schedule has ${HELP}.`,
    )
  }
  if (next === undefined) throw createScheduleError(`${JSON.stringify(fields)} is never due`)
  return fields
}

/** Formats an error of the parser as the end of a sentence, without the name of a class. */
function formatParseError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const sentence = message.replace(/^Cron\w*: /, '').replace(/\.$/, '')
  return sentence.charAt(0).toLowerCase() + sentence.slice(1)
}

function assertTimezone(timezone: string): void {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw createScheduleError(
      `there is no time zone ${JSON.stringify(timezone)}; use a name such as Europe/Berlin or UTC`,
    )
  }
}

function createScheduleError(detail: string): VfsError {
  return new VfsError('EINVAL', '/dev/cron', { op: 'cron_create', detail })
}
