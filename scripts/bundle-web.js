import { createHash } from 'node:crypto'
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { root } from './bundle-options.js'
import { writeLicenses } from './licenses.js'

// The page of `coppice ui` for the browser: one script that paints, one for each screen, and one style sheet.
const source = join(root, 'src/web')
const target = join(root, 'dist/web')
rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })

/** The editor and its packages. */
const EDITOR =
  /node_modules\/(?:@codemirror|@lezer|@marijn|crelt|style-mod|w3c-keyname)\/|\/merge-editor\.ts$/
const EDITOR_PACKAGES = [
  ...['commands', 'language', 'merge', 'state', 'view'].map((name) => `@codemirror/${name}`),
  ...['common', 'highlight', 'lr'].map((name) => `@lezer/${name}`),
  ...['@marijn/find-cluster-break', 'crelt', 'style-mod', 'w3c-keyname'],
]

const bundle = await rolldown({
  input: { main: join(source, 'main.tsx') },
  platform: 'browser',
  transform: { target: 'es2024' },
})
const { output } = await bundle.write({
  dir: target,
  format: 'esm',
  minify: true,
  comments: false,
  // A name changes with the content, so that a browser never mixes two versions.
  entryFileNames: '[name]-[hash].js',
  chunkFileNames: '[name]-[hash].js',
  codeSplitting: {
    groups: [
      // Only for who edits a conflict.
      { name: 'editor', test: EDITOR, priority: 1 },
      { name: 'parts', test: /\/src\/web\/(?:parts|client)\/|node_modules/ },
    ],
  },
})
const entry = output.find((chunk) => chunk.type === 'chunk' && chunk.isEntry)
writePages(entry, writeStyles())
copyFileSync(join(source, 'icon.svg'), join(target, 'icon.svg'))
writeLicenses(target, ['preact', '@preact/signals', '@preact/signals-core', ...EDITOR_PACKAGES])

/** Writes all style sheets as one, in the order of their names, and returns its name. */
function writeStyles() {
  const text = globSync('styles/*.css', { cwd: source })
    .sort()
    .map((path) => readFileSync(join(source, path), 'utf8'))
    .join('\n')
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>]) ?/g, '$1')
  const name = `style-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.css`
  writeFileSync(join(target, name), text)
  return name
}

/** Writes the page of each screen. It names the script of its screen, so that the browser loads all scripts at once. */
function writePages(entry, style) {
  const page = readFileSync(join(source, 'index.html'), 'utf8')
  for (const id of entry.dynamicImports) {
    const screen = findChunk(id)
    const scripts = new Set([...entry.imports, ...screen.imports, id])
    scripts.delete(entry.fileName)
    const links = [
      `<link rel="stylesheet" href="/${style}">`,
      ...[...scripts].map((name) => `<link rel="modulepreload" href="/${name}">`),
      `<script type="module" src="/${entry.fileName}"></script>`,
    ]
    const name = screen.name.replace(/-screen$/, '.html').replace('home.html', 'index.html')
    writeFileSync(join(target, name), page.replace('<!-- links -->', links.join('\n    ')))
  }
}

function findChunk(fileName) {
  return output.find((chunk) => chunk.fileName === fileName)
}
