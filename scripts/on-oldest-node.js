import { spawnSync } from 'node:child_process'
import { delimiter } from 'node:path'
import { installNode, OLDEST } from './node-versions.js'

// Runs a program of node_modules with the oldest Node we support: node scripts/on-oldest-node.js vitest run src/vfs
const [program = 'node', ...args] = process.argv.slice(2)
const path = `${installNode(OLDEST)}${delimiter}${process.env['PATH']}`
const { status } = spawnSync(program, args, { stdio: 'inherit', env: { ...process.env, PATH: path } })
process.exitCode = status ?? 1
