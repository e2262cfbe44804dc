import { text } from 'node:stream/consumers'
import { agentNames } from '../../../timeline/events/index.ts'
import { type Command, defineCommand } from '../../framework/command.ts'
import { UsageError } from '../../framework/usage-error.ts'
import { receiveEvent } from './receive-event.ts'

export const hook: Command = defineCommand(
  {
    name: 'hook',
    summary: 'Record an event of an agent from standard input',
    details: `Agents call this; coppice hooks install sets it up. It prints nothing and exits with 0, also if it fails.
Failures are listed by coppice timeline. With --worktree it serves events about worktrees, and prints the path of a new
one.`,
    scope: 'home',
    options: { worktree: { summary: 'Create or remove a worktree, which is a mounted fork' } },
    arguments: { agent: { summary: 'The program that sends the event', choices: agentNames } },
    examples: ['coppice hooks install claude', 'coppice hook claude < event.json'],
  },
  async (call) => {
    if (process.stdin.isTTY === true)
      throw new UsageError(
        'agents write their events to standard input; set that up with: coppice hooks install',
      )
    if (!call.has('worktree')) return receiveEvent(call.argument('agent'), call.option('home'))
    const { serveWorktree } = await import('./worktree-fork.ts')
    await serveWorktree(call, await text(process.stdin))
  },
)
