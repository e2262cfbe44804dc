import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getFileName } from '../test/support/api-report.ts'
import { readPublicApi } from '../test/support/public-api.ts'

// Writes the API reference into docs/api: a page for each subpath, with the doc comment and signature of each name.
const root = fileURLToPath(new URL('..', import.meta.url))
const directory = join(root, 'docs/api')
const KINDS = { function: 'Functions', class: 'Classes', value: 'Values', type: 'Types' }

const api = readPublicApi(root)
rmSync(directory, { recursive: true, force: true })
mkdirSync(directory, { recursive: true })
for (const entry of api) writeFileSync(join(directory, `${getFileName(entry.subpath)}.md`), formatPage(entry))
writeFileSync(join(directory, 'README.md'), formatIndex())
console.log(`wrote ${api.length} pages to docs/api`)

function formatPage({ subpath, doc, names }) {
  const parts = [`# ${subpath}`, doc]
  for (const [kind, title] of Object.entries(KINDS)) {
    const listed = names.filter((name) => name.kind === kind)
    if (listed.length > 0) parts.push(`## ${title}`, ...listed.map(formatName))
  }
  return `${parts.join('\n\n')}\n`
}

function formatName({ name, signature, doc }) {
  const text = doc.replaceAll(/^@example\s*$/gm, '**Example**\n').replaceAll(/^@param (\w+)/gm, '- `$1`:')
  return `### ${name}\n\n\`\`\`ts\n${signature}\n\`\`\`\n\n${text}`
}

function formatIndex() {
  const lines = api.map(({ subpath, doc }) => {
    const [summary = ''] = doc.replaceAll('\n', ' ').split(/(?<=\.) /)
    return `- [\`${subpath}\`](${getFileName(subpath)}.md): ${summary}`
  })
  return `# API reference\n\n${lines.join('\n')}\n`
}
