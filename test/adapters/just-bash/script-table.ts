import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** A script of the tables, named by its topic and its description. */
export interface Script {
  readonly name: string
  readonly text: string
}

const folder = new URL('scripts/', import.meta.url)

/** Reads the scripts in `scripts/<topic>.sh`; `#: …` begins each. */
export function writtenScripts(): Script[] {
  return globSync('*.sh', { cwd: folder })
    .sort()
    .flatMap((file) => scriptsOf(basename(file, '.sh'), file))
}

function scriptsOf(topic: string, file: string): Script[] {
  const sections = readFileSync(new URL(file, folder), 'utf8').split(/^#: /m).slice(1)
  return sections.map((section) => {
    const end = section.indexOf('\n')
    return { name: `${topic}: ${section.slice(0, end)}`, text: section.slice(end + 1) }
  })
}
