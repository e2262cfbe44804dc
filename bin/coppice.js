#!/usr/bin/env node
// Plain JavaScript that any Node can parse: an old one must get as far as the message below.
const WANTED = [22, 13]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])) {
  console.error(
    `coppice needs Node ${WANTED.join('.')} or newer; this is Node ${process.versions.node}.\n` +
      'Get one from https://nodejs.org, with "nvm install 24", or for one run: npx --package=node@24 --package=coppice coppice',
  )
  process.exit(1)
}

// Not imported: Node takes milliseconds to present its modules, and agents wait for every hook.
const { existsSync, statSync } = process.getBuiltinModule('node:fs')
const node = process.getBuiltinModule('node:module')

// Only a checkout can be without it: npx does not build there, because npm would do so without a word.
if (!existsSync(new URL('../dist/cli/main.js', import.meta.url))) {
  console.error(
    'coppice: this checkout is not built; run "npm run build" in it, which takes some 20 seconds.',
  )
  process.exit(1)
}

keepCompiledCode()
const args = process.argv.slice(2)
if (!(await receiveHook())) {
  const { main } = await import('../dist/cli/main.js')
  process.exitCode = await main(args)
}

/** Records the event of an agent; false if this is another command. */
async function receiveHook() {
  return (
    args[0] === 'hook' &&
    node
      .createRequire(import.meta.url)('../dist/cli/hook.cjs')
      .receiveHook(args)
  )
}

/** Lets Node keep what it made of the code for the next start; where that cannot be, it goes on without. */
function keepCompiledCode() {
  try {
    const { isAbsolute, join } = process.getBuiltinModule('node:path')
    const { homedir } = process.getBuiltinModule('node:os')
    const { XDG_CACHE_HOME: named = '' } = process.env
    const parent = isAbsolute(named) ? named : homedir()
    // What is kept there is run: it must be this user's own, which the home of somebody who called sudo is not.
    if (statSync(parent).uid !== process.getuid?.()) return
    node.enableCompileCache(join(parent, isAbsolute(named) ? '' : '.cache', 'coppice'))
  } catch {
    // A user without a home.
  }
}
