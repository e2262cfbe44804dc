import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NetworkReport, NetworkRun } from '../support/network-process.ts'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { run, runAsNobody, whyNoBubblewrap, whyNoOverlay, whyNotNobody } from '../support/tools.ts'

const NOBODY = 65_534
const script = programFile('network-process')

/** Commands that reach a server by its name, and what they print. */
const REACHING = {
  'curl, http': ['curl -sS http://www.shop.example:$PORT/hello', 'hello from outside'],
  'curl, a port of this machine that several rules name': [
    `curl -sS --noproxy '*' http://127.0.0.1:$PORT/hello`,
    'hello from outside',
  ],
  'curl, https': ['curl -sS --cacert ca.pem https://www.shop.example:$TLS_PORT/hello', 'hello from outside'],
  'curl, SOCKS': [
    `curl -sS --socks5-hostname "\${HTTP_PROXY#http://}" http://www.shop.example:$PORT/hello`,
    'hello from outside',
  ],
  'git, http': [
    'git clone -q http://git.shop.example:$PORT/repo.git one && cat one/file',
    'from a repository',
  ],
  'git, https': [
    'GIT_SSL_CAINFO=$PWD/ca.pem git clone -q https://git.shop.example:$TLS_PORT/repo.git two && cat two/file',
    'from a repository',
  ],
  // The web server answers the greeting of ssh in its own way.
  'git, ssh': [
    'GIT_SSH_COMMAND="$GIT_SSH_COMMAND -v" git ls-remote ssh://git@git.shop.example:$PORT/x 2>&1 | grep HTTP',
    '400 Bad Request',
  ],
  npm: [
    `npm install --no-save --registry http://npm.shop.example:$PORT/ tiny && $NODE -p 'require("tiny")'`,
    'from npm',
  ],
  pip: [
    'python3 -m pip install -q --target site --index-url http://pip.shop.example:$PORT/simple/ --trusted-host pip.shop.example tiny && python3 site/tiny.py',
    'from pip',
  ],
  "Node's fetch, http": [
    `$NODE -e 'fetch(process.argv[1]).then(r => r.text()).then(console.log)' http://www.shop.example:$PORT/hello`,
    'hello from outside',
  ],
  "Node's fetch, https": [
    `NODE_EXTRA_CA_CERTS=ca.pem $NODE -e 'fetch(process.argv[1]).then(r => r.text()).then(console.log)' https://www.shop.example:$TLS_PORT/hello`,
    'hello from outside',
  ],
  "Python's urllib": [
    `python3 -c 'import sys,urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())' http://www.shop.example:$PORT/hello`,
    'hello from outside',
  ],
  "Python's requests, as pip has it": [
    `python3 -c 'import sys; from pip._vendor import requests; print(requests.get(sys.argv[1]).text)' http://www.shop.example:$PORT/hello`,
    'hello from outside',
  ],
} as const

/** Commands that try to reach more. They print ESCAPED, or what a server outside says, if they do. */
const ESCAPING = {
  'another host': 'curl -sS http://evil.example:$PORT/hello',
  'the name that the wildcard hangs below': 'curl -sS http://shop.example:$PORT/hello',
  'another host by CONNECT': 'curl -sSp http://evil.example:$PORT/hello',
  'another host by SOCKS': `curl -sS --socks5-hostname "\${HTTP_PROXY#http://}" http://evil.example:$PORT/hello`,
  'this machine without the proxy': `curl -sS --http0.9 --noproxy '*' http://127.0.0.1:$CLOSED_PORT/`,
  'this machine by number': `curl -sSpx $HTTP_PROXY --http0.9 --noproxy '' http://2130706433:$CLOSED_PORT/`,
  'a socket by an abstract name': `python3 -c 'import os,socket; s=socket.socket(socket.AF_UNIX); s.connect("\\0"+os.environ["ABSTRACT"]); print(s.recv(9))'`,
  'an address outside': `bash -c 'exec 3<>/dev/tcp/192.0.2.1/80' && echo ESCAPED`,
  'a name by DNS': 'getent hosts www.shop.example && echo ESCAPED',
  'a new network': 'unshare -Urn true && echo ESCAPED; ip link add x type dummy && echo ESCAPED',
  'a process or descriptor of the proxy':
    'pgrep -x node && echo ESCAPED; ls -l /proc/self/fd | grep socket && echo ESCAPED',
} as const

const means = [
  { means: 'bubblewrap', why: whyNoOverlay() ?? whyNoBubblewrap() },
  { means: 'unshare', why: whyNoOverlay() },
] as const
const users = [
  { user: 'own', lack: undefined },
  { user: 'nobody', lack: whyNotNobody() },
] as const
const combinations = users.flatMap(({ user, lack }) =>
  means.map(({ means, why }) => ({ user, means, why: lack ?? why })),
)

let place = ''

beforeAll(() => {
  // Outside of /tmp, which is private to a command.
  place = mkdtempSync(join(root, 'node_modules/.coppice-network-'))
  chmodSync(place, 0o755)
})

afterAll(() => rmSync(place, { recursive: true, force: true }))

describe.each(combinations)('allowed hosts: $means, $user user', ({ user, means, why }) => {
  // Programs differ by what they speak and not by what confines them, so two combinations run all of them.
  const isWhole = (user === 'own') === (means === 'bubblewrap')
  const reaching = Object.entries(REACHING).slice(0, isWhole ? undefined : 4)
  let report: NetworkReport = { printed: {}, problems: [], connections: [] }

  beforeAll(() => {
    if (why !== undefined) return
    const own = mkdtempSync(join(place, 'run-'))
    if (user === 'nobody') chownSync(own, NOBODY, NOBODY)
    const lines = { ...Object.fromEntries(reaching.map(([name, [line]]) => [name, line])), ...ESCAPING }
    const spec: NetworkRun = { place: own, means, lines }
    const argv = [process.execPath, script, JSON.stringify(spec)] as const
    report = JSON.parse(user === 'nobody' ? runAsNobody(...argv) : run(...argv))
  })

  it.skipIf(why !== undefined).each(reaching)('are reached by %s', (name, [, expected]) => {
    expect(report.printed[name]).toContain(expected)
  })

  it.skipIf(why !== undefined).each(Object.keys(ESCAPING))('do not lead to %s', (name) => {
    expect(report.printed[name]).toBeDefined()
    expect(report.printed[name]).not.toMatch(/ESCAPED|hello from outside/)
  })

  it.skipIf(why !== undefined)(
    'are recorded, and refusals reported with the rule that would allow them',
    () => {
      const refusal = report.problems.find((line) => line.startsWith('refused'))
      const [port] = refusal?.match(/\d+/) ?? []
      expect(refusal).toBe(
        `refused: evil.example:${port} is not an allowed host; allow it with: coppice exec --allow-host evil.example:${port} …`,
      )
      expect(report.connections).toContainEqual(
        expect.objectContaining({ host: 'www.shop.example', decision: 'allowed', connections: 1 }),
      )
      expect(report.connections).toContainEqual(
        expect.objectContaining({ host: 'evil.example', decision: 'refused', bytes_sent: 0 }),
      )
    },
  )
})
