import type { Home, Vault } from '../../backends/vault/index.ts'
import { changedText, fileChanges, lineCounts, patchLines, type Trees } from '../../server/diff-text/index.ts'
import type { CallContext, Change } from '../../vfs/index.ts'
import type { Call } from '../call.ts'
import { changeText } from '../change-text.ts'
import { type Command, command } from '../command.ts'
import { withVault } from '../home-access.ts'
import { styled, type Terminal } from '../terminal.ts'
import { UsageError } from '../usage-error.ts'
import { counted, shownContent } from '../wording.ts'

export const diff: Command = command(
  {
    name: 'diff',
    summary: 'Show what changed: A added, M modified, D deleted, R renamed',
    details: `Compares the vault with what it was forked from, or with what is named:
a checkpoint of it, another vault (vault:NAME), or a checkpoint of another vault (NAME@CHECKPOINT).`,
    scope: 'vault',
    options: {
      patch: { summary: 'The changed lines, as a patch for git apply', short: 'p' },
      stat: { summary: 'How many lines were added and removed in each file' },
    },
    arguments: {
      against: {
        summary: 'What to compare with; the fork point when absent',
        isOptional: true,
        offers: 'checkpoint',
      },
    },
    examples: [
      'coppice diff --vault task-1',
      'coppice diff --vault task-1 --patch',
      'coppice diff before --patch',
      'coppice diff vault:base --stat',
      'coppice diff base@before',
    ],
  },
  (call) =>
    withVault(call, async ({ home, vault, ctx }) => {
      const { changes, trees } = await compare(home, vault, call.given('against'))
      if (!call.has('patch') && !call.has('stat')) {
        await call.output.list(changes, (change) => changeText(call.terminal, change))
        return
      }
      if (call.has('patch') && call.has('stat')) throw new UsageError('--patch and --stat do not go together')
      if (call.has('patch')) await renderPatch(call, changes, trees, ctx)
      else await renderStat(call, changes, trees, ctx)
    }),
)

interface Comparison {
  readonly changes: AsyncIterable<Change>
  readonly trees: Trees
}

async function compare(home: Home, vault: Vault, against: string | undefined): Promise<Comparison> {
  const other = against === undefined ? undefined : otherVault(against)
  if (other === undefined) {
    return { changes: vault.diff(against), trees: { before: vault.at(against), after: vault } }
  }
  const relative = await home.vault(other.vault)
  const before = other.checkpoint === undefined ? relative : relative.at(other.checkpoint)
  return { changes: vault.diff(other), trees: { before, after: vault } }
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
  await call.output.list(
    patches(),
    ({ patch }) => patch.map((line) => patchLineText(call.terminal, line)).join('\n'),
    ({ patch, ...change }) => ({ ...change, patch: `${patch.join('\n')}\n` }),
  )
}

async function renderStat(
  call: Call,
  changes: AsyncIterable<Change>,
  trees: Trees,
  ctx: CallContext,
): Promise<void> {
  const total = { files: 0, added: 0, removed: 0 }
  const counts = async function* () {
    for await (const change of fileChanges(changes, trees, ctx)) {
      const text = await changedText(change, trees, ctx)
      const lines = text.isBinary ? { added: 0, removed: 0 } : lineCounts(text)
      total.files++
      total.added += lines.added
      total.removed += lines.removed
      yield { ...change, ...lines, isBinary: text.isBinary }
    }
  }
  await call.output.list(counts(), ({ added, removed, isBinary, ...change }) => {
    const lines = isBinary ? 'binary' : `+${added} -${removed}`
    return `${changeText(call.terminal, change)}  ${lines}`
  })
  if (call.isJson) return
  await call.output.line(`${counted(total.files, 'path')}, +${total.added} -${total.removed} lines`)
}

function patchLineText(terminal: Terminal, raw: string): string {
  const line = shownContent(terminal, raw)
  if (/^(?:diff|---|\+\+\+|new|deleted|old|rename|Binary) /.test(line)) return styled(terminal, 'bold', line)
  if (line.startsWith('@@')) return styled(terminal, 'cyan', line)
  if (line.startsWith('+')) return styled(terminal, 'green', line)
  return line.startsWith('-') ? styled(terminal, 'red', line) : line
}
