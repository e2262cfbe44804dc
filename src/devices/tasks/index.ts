/**
 * `/dev/tasks`: tasks with owners and dependencies, shared by all processes.
 * Each task is a file, so that `ls` and `cat` show it and it outlives its creator.
 * Invariant: a task goes from pending over in_progress to completed, and never depends on itself.
 */
export type { Task, TaskStatus } from './task.ts'
export { TaskFiles } from './task-files.ts'
export { tasksDevice } from './tasks-device.ts'
