/**
 * Loaded before a program by `--import`: kills it after the first call of a function of `node:fs` whose path ends as the
 * variable KILL_AT says, such as `rmSync:/fork.json`.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [name = '', end = ''] = (process.env['KILL_AT'] ?? '').split(':')
const call: unknown = Reflect.get(fs, name)
if (typeof call === 'function') {
  Reflect.set(fs, name, (...words: unknown[]) => {
    const result: unknown = Reflect.apply(call, fs, words)
    if (String(words[0]).endsWith(end)) process.kill(process.pid, 'SIGKILL')
    return result
  })
  syncBuiltinESMExports()
}
