import type { Finding } from '../category.ts'
import { getValues, hasOption, parseArguments, toOptionSet } from './options.ts'
import {
  createAliases,
  createFinding,
  createFixedPrograms,
  type ProgramClassifier,
  type ProgramTable,
} from './program.ts'

const REACHES = createFinding('networked')
const REACHES_LOOPBACK = {
  ...createFinding('networked', 'reaches servers of this machine'),
  isLoopback: true,
}
/** The address of a server on the loopback, with or without a scheme. */
const LOOPBACK_ADDRESS =
  /^(?:(?:https?|wss?):\/\/)?(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:[/?#]|$)/i

const CURL_VALUES = toOptionSet(
  '-o --output -H --header -d --data -A --user-agent -e --referer -X --request -u --user -b --cookie -T --upload-file -F --form -K --config -c --cookie-jar -D --dump-header -w --write-out -m --max-time --data-raw --data-binary --url --cacert --cert --key --proxy -x --connect-timeout --retry --trace --output-dir',
)

/** Files that it uploads or writes count as paths; headers and the like do not. */
const curl: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args, CURL_VALUES)
  const isWriting = hasOption(
    sorted,
    '-o --output -O --remote-name -c --cookie-jar -D --dump-header --remote-name-all -J',
  )
  const data = getValues(sorted, '-d --data --data-binary -F --form').filter((value) => value.includes('@'))
  return {
    findings: [
      createReach([...sorted.operands, ...getValues(sorted, '--url')]),
      ...(isWriting ? [createFinding('mutating')] : []),
    ],
    paths: [
      ...sorted.operands,
      ...data,
      ...getValues(
        sorted,
        '-o --output -T --upload-file -K --config -c --cookie-jar -D --dump-header --cacert --cert --key --trace --output-dir',
      ),
    ],
  }
}

/** Runs its last words on another machine: they are classified as if they ran here. */
const ssh: ProgramClassifier = ({ args }) => {
  const { operands, options, rest } = parseArguments(
    args,
    toOptionSet('-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w'),
  )
  const commands = (options.get('-o') ?? []).flatMap(
    (option) => option.match(/^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ](.*)$/is)?.[1] ?? [],
  )
  const [, ...remote] = rest
  return {
    findings: [
      REACHES,
      createFinding(operands.length < 2 ? 'interactive' : 'mutating', 'works on another machine'),
    ],
    runs: [...commands, ...(remote.length > 0 ? [remote.join(' ')] : [])].map((shell) => ({ shell })),
    paths: args.slice(0, args.length - rest.length),
  }
}

/** May run a program for each connection. */
const netcat: ProgramClassifier = ({ args }) => {
  const sorted = parseArguments(args, toOptionSet('-e -c --exec --sh-exec -p -s -w -i'))
  const runs = getValues(sorted, '-e -c --exec --sh-exec').map((shell) => ({ shell }))
  return { findings: [REACHES], runs }
}

const socat: ProgramClassifier = ({ args }) => ({
  findings: [REACHES, createFinding('mutating')],
  runs: args.flatMap((arg) =>
    (arg.match(/^(?:EXEC|SYSTEM|SHELL):(.*)$/is)?.slice(1) ?? []).map((shell) => ({ shell })),
  ),
})

/** Without arguments it reads a call from each line. The name after `-subj` looks like a path. */
const openssl: ProgramClassifier = ({ args, stdin = '' }) => {
  const lines = args.length > 0 ? [] : stdin.split('\n')
  const isReaching =
    /^s_/.test(args[0] ?? '') || args.some((arg) => /^--?(?:url|server|host|connect)$/.test(arg))
  return {
    findings: isReaching ? [REACHES] : [createFinding('mutating')],
    paths: args.filter((_arg, index) => args[index - 1] !== '-subj'),
    runs: lines.map((line) => ({ argv: ['openssl', ...line.split(' ')] })),
  }
}

const WGET_VALUES = toOptionSet(
  '-O --output-document -o --output-file -P --directory-prefix -T --timeout -t --tries --header --post-data --method --body-data -U --user-agent',
)

const wget: ProgramClassifier = ({ args }) => ({
  findings: [createReach(parseArguments(args, WGET_VALUES).operands), createFinding('mutating')],
})

/** Returns the finding of a program that reaches addresses. Isolation stops a redirect from the loopback to another host. */
function createReach(addresses: readonly string[]): Finding {
  const isLoopback = addresses.length > 0 && addresses.every((address) => LOOPBACK_ADDRESS.test(address))
  return isLoopback ? REACHES_LOOPBACK : REACHES
}

const fetching = () => ({ findings: [REACHES, createFinding('mutating')] })

/** Programs that talk to other machines. */
export const network: ProgramTable = {
  curl,
  wget,
  ...createAliases(
    'wget2 aria2c axel httrack yt-dlp youtube-dl http https xh httpie scp sftp ftp lftp tftp rclone aws gcloud az gsutil s3cmd kubectl helm terraform tofu pulumi ansible ansible-playbook vercel netlify flyctl fly heroku wrangler firebase supabase doctl linode-cli openstack twine skopeo oras ngrok cloudflared tailscale mail sendmail mutt rsh rexec',
    fetching,
  ),
  ...createFixedPrograms(
    'ping ping6 dig nslookup host whois traceroute tracepath mtr nmap masscan arp-scan telnet rlogin finger websocat wscat grpcurl mosquitto_pub mosquitto_sub redis-cli mongosh mongo mysql mysqldump psql pg_dump pg_restore mariadb tcpdump tshark iperf iperf3 ab wrk hey siege',
    'networked',
  ),
  ...createAliases('ssh mosh autossh', ssh),
  ...createAliases('nc ncat netcat', netcat),
  socat,
  openssl,
}
