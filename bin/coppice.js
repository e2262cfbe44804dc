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

const { main } = await import('../dist/cli/main.js')
process.exitCode = await main(process.argv.slice(2))
