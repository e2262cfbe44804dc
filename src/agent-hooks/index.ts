/**
 * The hook configuration of agents' programs: adds the command that reports their events, and takes it out again.
 * Invariant: nothing in a user's file changes but the entries of Coppice.
 */
export { createHookCommands, type HookCommands } from './hook-entries.ts'
export { HookFile } from './hook-file.ts'
export {
  getHookFile,
  getHookProgram,
  type HookProgram,
  hookProgramNames,
} from './hook-program.ts'
