import { describe, expect, it } from 'vitest'
import { decide, type ExecutionRequestInput, executionRequest, parsePolicy } from './index.ts'

const HOSTS = '[network]\nallow = ["registry.npmjs.org", "*.example.com:443"]\n'

function decideAbout(shell: string, policy: string, more: Partial<ExecutionRequestInput> = {}) {
  const request = executionRequest({ vault: 'v', command: { shell }, ...more })
  return decide(request, parsePolicy('policy.toml', policy))
}

describe('allowed hosts', () => {
  it.each([
    'npm ci',
    'curl https://x.example',
    'npm ci && npm test',
    'HTTPS_PROXY=http://x npm ci',
    './npm ci',
  ])('let a command run that needs the network: %s', (line) => {
    expect(decideAbout(line, '').action).toBe('require_approval')
    expect(decideAbout(line, HOSTS).action).toMatch(/^allow/)
    expect(decideAbout(line, HOSTS).categories).toContain('networked')
  })

  it.each([
    ['a rule denies the program', '[[rule]]\naction = "deny"\nprogram = "curl"\n', 'deny'],
    ['a rule asks about it', '[[rule]]\naction = "ask"\nprogram = "curl"\n', 'require_approval'],
    ['the default denies the network', '[defaults]\nnetworked = "deny"\n', 'deny'],
  ])('change nothing where %s', (_, rules, action) => {
    expect(decideAbout('curl x', `${HOSTS}${rules}`).action).toBe(action)
  })

  it('change nothing about leaving the workspace', () => {
    expect(decideAbout('curl -o /etc/passwd x', HOSTS).action).toBe('deny')
  })

  it('are no help to a request for the whole network, or without isolation', () => {
    expect(decideAbout('true', HOSTS, { network: true }).action).toBe('require_approval')
    expect(decideAbout('curl x', HOSTS, { isolation: 'none' }).action).toBe('require_approval')
  })

  it('confine a command that a rule gives the network', () => {
    const rule = '[[rule]]\naction = "allow"\nprogram = "npm"\nargs = "ci*"\n'
    expect(decideAbout('npm ci; node x.js', rule).action).toBe('require_approval')
    expect(decideAbout('npm ci; node x.js', `${HOSTS}${rule}`).action).toMatch(/^allow/)
  })
})

describe('a request for hosts', () => {
  it('needs approval for those that are not allowed, and names them', () => {
    const hosts = ['registry.npmjs.org:443', 'Evil.example', 'www.example.com', '*.a.example.com:443']
    const decision = decideAbout('npm ci', HOSTS, { hosts })
    expect(decision.action).toBe('require_approval')
    expect(decision.reason).toContain('asks to reach evil.example, www.example.com;')
    expect(decideAbout('npm ci', HOSTS, { hosts: [...hosts.slice(0, 1), ...hosts.slice(3)] }).action).toMatch(
      /^allow/,
    )
  })

  it('is invalid with anything but hosts', () => {
    const invalid = (hosts: readonly string[]) => () => decideAbout('true', '', { hosts })
    expect(invalid(['https://example.com/'])).toThrow(/hosts cannot be used: .* is a URL/)
    expect(invalid(['*'])).toThrow('use --network')
  })
})

describe('calls of the loopback', () => {
  const own = { directories: ['/tmp'], except: [], isLoopbackShared: false }
  const decideIsolated = (shell: string, more = {}, paths = {}) =>
    decide(executionRequest({ vault: 'v', command: { shell }, ...more }), undefined, { ...own, ...paths })

  it.each([
    'npm start & sleep 1; curl -s http://localhost:3000/',
    'node server.js & curl --retry 5 127.0.0.1:3000 localhost:4000/x',
    'node server.js & wget -qO- http://fix-1.localhost:8000',
  ])('need no approval beside a server of the same command: %s', (line) => {
    expect(decideIsolated(line).action).toMatch(/^allow/)
    expect(decideIsolated(line).categories).not.toContain('networked')
    expect(decideIsolated(line, { network: true }).action).toBe('require_approval')
    expect(decide(executionRequest({ vault: 'v', command: { shell: line } })).action).toBe('require_approval')
  })

  it.each([
    'node server.js & curl http://localhost.evil.example/',
    'node server.js & curl http://localhost@evil.example/',
    'node server.js & curl http://localhost:3000/ http://evil.example/',
    'node server.js & curl --url http://evil.example/ localhost:3000',
    'node server.js & curl "$URL"',
  ])('are not those of another host: %s', (line) => {
    expect(decideIsolated(line).action).toBe('require_approval')
  })

  it('mean a server of this machine if nothing else could serve', () => {
    expect(decideIsolated('curl localhost:3000').action).toBe('require_approval')
    expect(decideIsolated('curl localhost:3000', {}, { isLoopbackShared: true }).action).toBe('allow')
  })
})
