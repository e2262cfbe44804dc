/** A moment in the history of a vault or fork: a checkpoint, a row of its journal, or the state it was forked from. */
export type TreeMoment = { readonly checkpoint: string } | { readonly seq: number } | 'base'

/** A tree of files: a vault, a fork of a directory, or the directory itself. Without a moment, as it is now. */
export type TreeRef =
  | { readonly kind: 'vault' | 'fork'; readonly name: string; readonly at?: TreeMoment }
  | { readonly kind: 'directory'; readonly path: string }

/**
 * A `TreeRef` as text, for addresses and requests: `vault:NAME`, `fork:NAME` or `directory:/PATH`. A vault or fork has
 * a suffix for a moment: `@CHECKPOINT`, `~SEQ` for the state after that journal row, or `^` for the state it was
 * forked from.
 */
export type TreeName = string

const NAMED_TREE = /^(vault|fork):([A-Za-z0-9][A-Za-z0-9_-]{0,63})(.*)$/s
const CHECKPOINT = /^@([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/
const SEQ = /^~(0|[1-9]\d{0,14})$/
const DIRECTORY_PREFIX = 'directory:'

export function formatTreeRef(ref: TreeRef): TreeName {
  if (ref.kind === 'directory') return DIRECTORY_PREFIX + ref.path
  return `${ref.kind}:${ref.name}${ref.at === undefined ? '' : formatMoment(ref.at)}`
}

/** Parses the text of a tree; undefined if it is none. */
export function parseTreeRef(text: TreeName): TreeRef | undefined {
  if (text.startsWith(`${DIRECTORY_PREFIX}/`))
    return { kind: 'directory', path: text.slice(DIRECTORY_PREFIX.length) }
  const [, kind, name = '', suffix = ''] = NAMED_TREE.exec(text) ?? []
  if (kind !== 'vault' && kind !== 'fork') return undefined
  if (suffix === '') return { kind, name }
  const at = parseMoment(suffix)
  return at === undefined ? undefined : { kind, name, at }
}

function formatMoment(at: TreeMoment): string {
  if (at === 'base') return '^'
  return 'seq' in at ? `~${at.seq}` : `@${at.checkpoint}`
}

function parseMoment(suffix: string): TreeMoment | undefined {
  if (suffix === '^') return 'base'
  const [, seq] = SEQ.exec(suffix) ?? []
  if (seq !== undefined) return { seq: Number(seq) }
  const [, checkpoint] = CHECKPOINT.exec(suffix) ?? []
  return checkpoint === undefined ? undefined : { checkpoint }
}
