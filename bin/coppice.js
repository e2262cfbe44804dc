#!/usr/bin/env node
// Plain JavaScript that any Node can parse: an old one must get as far as the message below.
const WANTED = [22, 13]
/** Characters of a file name that every system can have. */
const MAX_NAME = 200
/** Exit code of a command line that cannot be understood. */
const EXIT_USAGE = 2
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
const { fileURLToPath } = process.getBuiltinModule('node:url')

// Only a checkout can be without it, or have an old one: npx does not build there, because npm would do so without a word.
if (!existsSync(new URL('../dist/cli/package.json', import.meta.url))) {
  console.error(
    'coppice: this checkout is not built; run "npm run build" in it, which takes some 20 seconds.',
  )
  process.exit(1)
}

const args = process.argv.slice(2)
const require = node.createRequire(import.meta.url)
const { ProgramParts } = require('./compiled-code.cjs')
const program = fileURLToPath(new URL('../dist/cli', import.meta.url))
const parts = new ProgramParts(program, findCompiledCode())
process.once('exit', keepCompiledCode)
if (!(await receiveHook())) process.exitCode = await parts.load('main.js').main(args)
exitIfDone()

/** Records the event of an agent; false if this is another command. */
async function receiveHook() {
  return args[0] === 'hook' && parts.load('hook.js').receiveHook(args)
}

function keepCompiledCode(code) {
  // After a typing error, there is no such command.
  if (code !== EXIT_USAGE) parts.save()
}

/** Exits if nothing is left to do or to write. Otherwise Node does so later, after it has released all memory. */
function exitIfDone() {
  const active = process.getActiveResourcesInfo()
  if (!active.every((name) => name === 'PipeWrap' || name === 'TTYWrap') || active.length > 3) return
  // Where there are pipes or terminals, they may be those of this process.
  if (active.length > 0 && (process.stdin.readableFlowing || isWriting())) return
  process.exit()
}

function isWriting() {
  return process.stdout.writableLength > 0 || process.stderr.writableLength > 0
}

/** Returns the file for the compiled code of the command; undefined where that cannot be kept. */
function findCompiledCode() {
  try {
    const { isAbsolute, join } = process.getBuiltinModule('node:path')
    const { homedir } = process.getBuiltinModule('node:os')
    const { XDG_CACHE_HOME: named = '' } = process.env
    const parent = isAbsolute(named) ? named : homedir()
    // What is kept there is run: it must be this user's own, which the home of somebody who called sudo is not.
    if (statSync(parent).uid !== process.getuid?.()) return undefined
    const cache = join(parent, isAbsolute(named) ? '' : '.cache', 'coppice')
    // For packages, which Node loads.
    node.enableCompileCache(cache)
    const [first = '--help'] = args
    const name = first === '--help' || first === '-h' ? 'help' : first
    if (!/^[a-z][a-z-]*$/.test(name)) return undefined
    // Installations would replace the code of one another.
    const installation = encodeURIComponent(program).slice(-MAX_NAME)
    return join(cache, `${process.version}-${process.arch}-${process.platform}`, installation, name)
  } catch {
    // A user without a home.
    return undefined
  }
}
