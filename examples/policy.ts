// What a command may do, decided before it runs: every program it would start, with rules of your own.
// Run: npx node examples/policy.ts
import assert from 'node:assert/strict'
import { decide, executionRequest, parsePolicy } from 'coppice/workspace'

const text = `
[[rule]]
action = "deny"
program = "git"
args = "push *--force*"
reason = "history is shared; push a new branch"
`
const request = executionRequest({ vault: 'base', command: { shell: 'npm ci && npm test' } })
const { action, categories, reason } = decide(request, parsePolicy('policy.toml', text))
console.log(action, categories, reason)

const hidden = executionRequest({ vault: 'base', command: { shell: `sh -c 'git push --force'` } })
const refused = decide(hidden, parsePolicy('policy.toml', text))
assert.equal(refused.action, 'deny')
assert.match(refused.reason ?? '', /history is shared/)
