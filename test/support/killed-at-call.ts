/**
 * Loaded before a program by `--import`: kills it after a call of a function of `node:fs` whose path ends as the variable
 * KILL_AT says, such as `rmSync:/fork.json`. A number at its end, as in `renameSync:/fork.json.draft:2`, counts such calls.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const [name = '', end = '', count = '1'] = (process.env['KILL_AT'] ?? '').split(':')
const call: unknown = Reflect.get(fs, name)
let remaining = Number(count)
if (typeof call === 'function') {
  Reflect.set(fs, name, (...words: unknown[]) => {
    const result: unknown = Reflect.apply(call, fs, words)
    if (String(words[0]).endsWith(end) && --remaining === 0) process.kill(process.pid, 'SIGKILL')
    return result
  })
  syncBuiltinESMExports()
}
