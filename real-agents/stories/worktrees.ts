import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getLastText, type MessagesTurn, startMessagesApi } from '../apis/messages-api.ts'
import type { Stage } from '../stage.ts'
import type { Story } from '../story.ts'
import { Terminal } from '../terminal.ts'
import { openClaudeStage, skipFirstQuestions } from './claude-stage.ts'

const FILES = { 'notes.txt': 'notes\n', 'a.txt': 'one\n', '.env': 'TOKEN=1\n' } as const
const OPTIONS = ['--permission-mode', 'default', '--allowedTools', 'Bash,Agent']

/**
 * Worktrees of Claude Code are forks: all files of the project are in them, and nothing reaches the project before it is
 * applied. Without a terminal, with one, and for an agent that Claude Code starts by itself.
 */
export const worktrees: Story = {
  name: 'hooks: Claude Code in worktrees',
  async run(signal) {
    await using api = await startMessagesApi((request) => answer(getLastText(request)))
    await using stage = await openClaudeStage(api, { files: FILES, signal })
    await skipFirstQuestions(stage)
    await stage.coppice('hooks', 'install', 'claude', '--worktrees')
    await workWithoutTerminal(stage)
    await workAtTerminal(stage, await Terminal.open(stage.project, stage.env, signal))
    await workInChild(stage)
    assert.deepEqual(api.problems, [])
    return 'three worktrees with all files of the project; one seen while it was mounted, one kept at exit, one of a child'
  },
}

function answer(last: string): MessagesTurn {
  const [, task] = /Do task (\w+)/.exec(last) ?? []
  if (task === 'delegate')
    return {
      tool: 'Agent',
      input: {
        description: 'A task',
        prompt: 'Do task child',
        subagent_type: 'general-purpose',
        isolation: 'worktree',
      },
    }
  if (task !== undefined)
    return { tool: 'Bash', input: { command: `cat .env; echo ${task} >> a.txt; rm notes.txt` } }
  return { text: `The task is done: ${last.slice(0, 2000)}` }
}

/** Claude Code leaves its worktree when nobody is at the terminal. It is seen, applied and unmounted by hand. */
async function workWithoutTerminal(stage: Stage): Promise<void> {
  const words = ['-p', 'Do task print', '--worktree', 'feat', ...OPTIONS]
  const { code, stdout, stderr } = await stage.run('claude', words)
  assert.equal(code, 0, stderr + stdout)
  assert.match(stdout, /TOKEN=1/)
  const worktree = join(stage.directory, 'coppice-worktrees/feat')
  assert.match(await stage.coppice('forks'), new RegExp(`runs coppice mount feat ${worktree}`))
  assert.match(await stage.coppice('diff', 'feat'), /^\+print$/m)
  assert.equal(await readFile(join(stage.project, 'a.txt'), 'utf8'), 'one\n')
  await stage.coppice('unmount', worktree)
  await stage.coppice('apply', 'feat', '--', 'a.txt')
  assert.equal(await readFile(join(stage.project, 'a.txt'), 'utf8'), 'one\nprint\n')
}

/** At the end of a session Claude Code removes its worktree. The fork has the changes. */
async function workAtTerminal(stage: Stage, opened: Terminal): Promise<void> {
  await using terminal = opened
  await terminal.type(`claude --worktree fix/login ${OPTIONS.join(' ')}`, 'Enter')
  await terminal.shows(/^❯/m)
  await terminal.type('Do task login', 'Enter')
  await terminal.shows(/The task is done/)
  await terminal.type('/exit')
  await terminal.shows(/Exit the CLI/)
  await terminal.type('', 'Enter')
  await terminal.shows(/Resume this session/)
  assert.match(await stage.coppice('forks'), /^fix-login .* 2 files \+1 -1$/m)
}

/** The worktree of a child with changes stays mounted, for its parent to look at. */
async function workInChild(stage: Stage): Promise<void> {
  const { code, stdout, stderr } = await stage.run('claude', ['-p', 'Do task delegate', ...OPTIONS])
  assert.equal(code, 0, stderr + stdout)
  const [, fork = '', worktree = ''] =
    /^(agent-\w+) .* runs coppice mount agent-\w+ (.*)$/m.exec(await stage.coppice('forks')) ?? []
  assert.match(await stage.coppice('diff', fork), /^\+child$/m)
  await stage.coppice('unmount', worktree)
}
