import type { CommandOption } from '../../framework/command-definition.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'

/** Ways to show a fork as a directory. */
export const SESSIONS = ['auto', 'overlay', 'fuse', 'dir'] as const
/** Levels of isolation. */
export const ISOLATIONS = ['auto', 'none', 'strict'] as const

/** Names of the options of every command that runs a program. */
export type RunOption =
  | 'network'
  | 'allow-host'
  | 'port'
  | 'isolation'
  | 'session'
  | 'timeout'
  | 'memory'
  | 'read-only'
  | 'env'
  | 'with'
  | 'mask'
  | 'no-mask'

/** Options of every command that runs a program in a session. */
export const runOptions: Readonly<Record<RunOption, CommandOption>> = {
  network: { summary: 'Let the command reach the whole network; needs your approval' },
  'allow-host': {
    summary: 'Let the command reach NAME[:PORT] or *.NAME; repeatable',
    value: 'host',
    isList: true,
  },
  port: {
    summary: 'Publish only this port, at once (default: each port when it opens); repeatable',
    value: 'port',
    isList: true,
  },
  isolation: {
    summary: 'Isolation from this machine (auto)',
    value: 'level',
    choices: ISOLATIONS,
  },
  session: { summary: 'How the fork is shown as a directory (auto)', value: 'kind', choices: SESSIONS },
  timeout: { summary: 'Time limit; 0 for none (300; none at a terminal)', value: 'seconds' },
  memory: {
    summary: 'Memory limit, such as 2G, or none (half of the machine)',
    value: 'size',
  },
  'read-only': { summary: 'Run in a read-only workspace' },
  env: {
    summary: 'Set NAME=value, or pass on your variable NAME; repeatable',
    value: 'setting',
    isList: true,
  },
  with: {
    summary: 'Also use this profile; repeatable (coppice profile list)',
    value: 'profile',
    isList: true,
  },
  mask: { summary: 'Show placeholders in place of the values of .env and similar files' },
  'no-mask': { summary: 'Show the values of .env and similar files' },
}

/** A command line with these options. */
export type RunInvocation = CommandInvocation<RunOption, never>
