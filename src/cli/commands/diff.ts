import type { Home, Vault } from '../../backends/vault/index.ts'
import { changedText, fileChanges, lineCounts, patchLines, type Trees } from '../../server/diff-text/index.ts'
import type { CallContext, Change } from '../../vfs/index.ts'
import type { Call } from '../call.ts'
import { aboutText } from '../change-summary.ts'
import { changeLine, changeText, changeValue } from '../change-text.ts'
import { type Command, command } from '../command.ts'
import { type OpenHome, vaultName, withHome } from '../home-access.ts'
import { linkedFork } from '../linked-access.ts'
import { paged } from '../pager.ts'
import { styled, type Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { counted, shownContent } from '../wording.ts'

export const diff: Command = command(
  {
    name: 'diff',
    summary: 'Show what changed: A added, M modified, D deleted, R renamed',
    details: `In a directory that coppice exec was run in: the changed lines of the fork that is named, or was used last.
With --vault, and anywhere else: compares the vault with what it was forked from, or with what is named:
a checkpoint of it, another vault (vault:NAME), or a checkpoint of another vault (NAME@CHECKPOINT).`,
    scope: 'vault',
    options: {
      patch: { summary: 'The changed lines, as a patch for git apply', short: 'p' },
      stat: { summary: 'How many lines were added and removed in each file' },
    },
    arguments: {
      against: {
        summary: 'A fork of this directory, or what to compare the vault with; the fork point when absent',
        isOptional: true,
        offers: 'checkpoint',
      },
    },
    examples: [
      'coppice diff',
      'coppice diff project-1 --stat',
      'coppice diff --vault task-1',
      'coppice diff --vault task-1 --patch',
      'coppice diff before --patch',
      'coppice diff vault:base --stat',
      'coppice diff base@before',
    ],
  },
  (call) =>
    withHome(call, async (open) => {
      if (call.has('patch') && call.has('stat')) throw new UsageError('--patch and --stat do not go together')
      const { changes, trees, isLinked } = await comparison(call, open)
      if (call.has('stat')) await renderStat(call, changes, trees, open.ctx)
      else if (call.has('patch') || (isLinked && !call.isJson))
        await renderPatch(call, changes, trees, open.ctx)
      else await call.output.list(changes, (change) => changeLine(call.terminal, change), changeValue)
    }),
)

type DiffCall = Call<'patch' | 'stat', 'against'>

interface Comparison {
  readonly changes: AsyncIterable<Change>
  readonly trees: Trees
  /** Whether it is about a fork of the working directory. */
  readonly isLinked: boolean
}

async function comparison(call: DiffCall, open: OpenHome): Promise<Comparison> {
  const against = call.given('against')
  if (!call.has('vault')) {
    const linked = await linkedFork(open.home, against)
    if (linked !== undefined) {
      const { link, fork } = linked
      return { changes: link.diff(fork), trees: await link.trees(fork), isLinked: true }
    }
  }
  return compare(open.home, await open.home.vault(await vaultName(call, open)), against)
}

async function compare(home: Home, vault: Vault, against: string | undefined): Promise<Comparison> {
  const other = against === undefined ? undefined : otherVault(against)
  if (other === undefined) {
    const trees = { before: vault.at(against), after: vault }
    return { changes: vault.diff(against), trees, isLinked: false }
  }
  const relative = await home.vault(other.vault)
  const before = other.checkpoint === undefined ? relative : relative.at(other.checkpoint)
  return { changes: vault.diff(other), trees: { before, after: vault }, isLinked: false }
}

/** `vault:NAME` and `NAME@CHECKPOINT`; anything else is a checkpoint of the vault itself. */
function otherVault(against: string): { readonly vault: string; readonly checkpoint?: string } | undefined {
  const [, prefix, vault = '', checkpoint] = against.match(/^(vault:)?([^@]+)(?:@(.+))?$/s) ?? []
  if (checkpoint !== undefined) return { vault, checkpoint }
  return prefix === undefined ? undefined : { vault }
}

async function renderPatch(
  call: Call,
  changes: AsyncIterable<Change>,
  trees: Trees,
  ctx: CallContext,
): Promise<void> {
  const patches = async function* () {
    for await (const change of fileChanges(changes, trees, ctx)) {
      yield { ...change, patch: patchLines(await changedText(change, trees, ctx)) }
    }
  }
  const text = ({ patch }: { readonly patch: readonly string[] }) =>
    patch.map((line) => patchLineText(call.terminal, line)).join('\n')
  if (!call.isJson) await paged(call.terminal, async (output) => void (await output.list(patches(), text)))
  else {
    await call.output.list(patches(), text, ({ patch, ...change }) => ({
      ...changeValue(change),
      patch: `${patch.join('\n')}\n`,
    }))
  }
}

interface CountedChange extends Change {
  readonly added: number
  readonly removed: number
  readonly isBinary: boolean
}

async function renderStat(
  call: Call,
  changes: AsyncIterable<Change>,
  trees: Trees,
  ctx: CallContext,
): Promise<void> {
  const total = { files: 0, added: 0, removed: 0 }
  const counts = async function* (): AsyncGenerator<CountedChange> {
    for await (const change of fileChanges(changes, trees, ctx)) {
      const text = await changedText(change, trees, ctx)
      const lines = text.isBinary ? { added: 0, removed: 0 } : lineCounts(text)
      total.files++
      total.added += lines.added
      total.removed += lines.removed
      yield { ...change, ...lines, isBinary: text.isBinary }
    }
  }
  const text = ({ added, removed, isBinary, ...change }: CountedChange) => {
    const about = aboutText(change, isBinary, `+${added} -${removed}`)
    return `${changeText(call.terminal, change)}${about}`
  }
  await call.output.list(counts(), text, changeValue)
  if (call.isJson) return
  await call.output.line(`${counted(total.files, 'path')}, +${total.added} -${total.removed} lines`)
}

function patchLineText(terminal: Terminal, raw: string): string {
  const line = shownContent(terminal, raw)
  if (/^(?:diff|---|\+\+\+|new|deleted|old|rename|mode|Binary) /.test(line))
    return styled(terminal, 'bold', line)
  if (line.startsWith('@@')) return styled(terminal, 'cyan', line)
  if (line.startsWith('+')) return styled(terminal, 'green', line)
  return line.startsWith('-') ? styled(terminal, 'red', line) : line
}
