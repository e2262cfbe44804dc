import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './support/run-node.ts'

const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const sources = await Array.fromAsync(
  glob(['{src,test,bench,scripts}/**/*.{ts,js}', 'real-agents/*.ts'], { cwd: root }),
)

describe('ARCHITECTURE.md', () => {
  it('names files that exist, in sentences, tables and diagrams', () => {
    expect(findMissingFiles(page)).toEqual([])
  })

  it('names folders that exist', () => {
    expect(findMissingFolders(page)).toEqual([])
  })

  it('draws arrows only to functions of the file they point to', () => {
    const arrows = listArrows(page)
    expect(arrows.length).toBeGreaterThan(40)
    expect(arrows.filter((arrow) => !isDeclared(arrow)).map(({ line }) => line)).toEqual([])
  })

  it('would notice a file, a folder and a function that are gone', () => {
    const diagram = [
      '```mermaid',
      'sequenceDiagram',
      '  participant gate as access/gate.ts',
      '  gate->>gate: evaluate(op)',
      '  gate->>gate: vanished(op)',
      '  gate->>nobody: evaluate(op)',
      '```',
    ].join('\n')
    expect(listArrows(diagram).map(isDeclared)).toEqual([true, false, false])
    const text =
      '`vfs/path.ts`, `path.ts`, `store/path.ts`, vanished.ts, `vfs/helpers/`, `vfs/vanished/`, `src/vanished`'
    expect(findMissingFiles(text)).toEqual(['store/path.ts', 'vanished.ts'])
    expect(findMissingFolders(text)).toEqual(['vfs/vanished', 'src/vanished'])
  })
})

function findMissingFiles(text: string): string[] {
  const names = [...text.matchAll(/(?<![\w*-])[\w-]+(?:\/[\w-]+)*(?:\.test)?\.ts\b/g)].map(([name]) => name)
  return names.filter((name) => !sources.some((path) => `/${path}`.endsWith(`/${name}`)))
}

/** Finds folders by a slash at their end, or by a name that begins with `src/`. */
function findMissingFolders(text: string): string[] {
  const names = [...text.matchAll(/`([\w-]+(?:\/[\w-]+)*)\/`|`(src\/[\w/-]+)`/g)].map(
    ([, folder, path]) => folder ?? path ?? '',
  )
  return names.filter((name) => !sources.some((path) => `/${path}`.includes(`/${name}/`)))
}

interface Arrow {
  readonly line: string
  readonly name: string
  /** The file the arrow points to; undefined if the diagram has no such participant. */
  readonly file: string | undefined
}

/** Lists the calls of all sequence diagrams. Replies (`-->>`) are free text. */
function listArrows(text: string): Arrow[] {
  const diagrams = [...text.matchAll(/```mermaid\nsequenceDiagram\n([\s\S]*?)```/g)].map(
    ([, body]) => body ?? '',
  )
  return diagrams.flatMap((diagram) => {
    const participants = new Map(
      [...diagram.matchAll(/participant (\w+) as (\S+)/g)].map(([, alias = '', file = '']) => [alias, file]),
    )
    return diagram
      .split('\n')
      .filter((line) => /\w->>/.test(line))
      .map((line) => {
        const [, alias = '', name = ''] = line.match(/->>(\w+): (\w+)\(/) ?? []
        return { line: line.trim(), name, file: participants.get(alias) }
      })
  })
}

function isDeclared({ name, file }: Arrow): boolean {
  const path = file !== undefined && name !== '' && sources.find((source) => source === `src/${file}`)
  if (!path) return false
  return new RegExp(`(?<![.\\w])${name}\\b[(<:]`).test(readFileSync(join(root, path), 'utf8'))
}
