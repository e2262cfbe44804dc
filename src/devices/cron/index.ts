/**
 * `/dev/cron`: intents that run as processes on a schedule in a time zone.
 * Jobs are files, so they outlive the daemon; the caller supplies the function that spawns processes.
 * Invariant: a run is recorded before it starts, so no run happens twice, and none after its job is deleted.
 */

export { cronDevice } from './cron-device.ts'
export type { CronJob } from './cron-job.ts'
export { type Clock, Crontab, type CrontabOptions, type ListedJob } from './crontab.ts'
