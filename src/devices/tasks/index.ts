/**
 * `/dev/tasks`: what is to be done, by whom and after what, shared by all processes.
 * Each task is a file of its own, so that `ls` and `cat` show them and they outlive whoever made them.
 * Invariant: a task goes from pending over in_progress to completed, and never waits for itself.
 */
export type { Task, TaskStatus } from './task.ts'
export { TaskFiles } from './task-files.ts'
export { tasksDevice } from './tasks-device.ts'
