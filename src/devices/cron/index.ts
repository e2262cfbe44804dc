/**
 * `/dev/cron`: intents that become processes again and again, by a schedule in a time zone.
 * Jobs are files, so that they outlive the daemon; what spawns the processes is given from outside.
 * Invariant: a firing is noted before it happens, so that none happens twice, and one of a deleted job never.
 */

export { cronDevice } from './cron-device.ts'
export type { CronJob } from './cron-job.ts'
export { type Clock, Crontab, type CrontabOptions, type ListedJob } from './crontab.ts'
