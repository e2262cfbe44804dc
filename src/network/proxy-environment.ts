const LOOPBACK_NAMES = 'localhost,.localhost,127.0.0.1,::1'

/** Returns the variables by which programs find a proxy on their loopback. */
export function createProxyEnvironment(port: number): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${port}`
  return {
    HTTP_PROXY: url,
    http_proxy: url,
    HTTPS_PROXY: url,
    https_proxy: url,
    // HTTP rather than SOCKS, which the proxy speaks too: many libraries fail on a SOCKS address that they do not know.
    ALL_PROXY: url,
    all_proxy: url,
    NO_PROXY: LOOPBACK_NAMES,
    no_proxy: LOOPBACK_NAMES,
    // Node reads the variables above only if it is asked to.
    NODE_USE_ENV_PROXY: '1',
    npm_config_proxy: url,
    npm_config_https_proxy: url,
    npm_config_noproxy: LOOPBACK_NAMES,
    YARN_HTTP_PROXY: url,
    YARN_HTTPS_PROXY: url,
    PIP_PROXY: url,
    CARGO_HTTP_PROXY: url,
    RSYNC_PROXY: `127.0.0.1:${port}`,
    ELECTRON_GET_USE_PROXY: '1',
  }
}

/**
 * Returns variables that hold only where a person has not set them: a command for git over ssh, which knows no proxy by
 * itself. Bash connects to the proxy, because an `nc` that can do so is often missing.
 */
export function createProxyDefaults(port: number): Readonly<Record<string, string>> {
  // ssh replaces `%%` by `%`, and then bash formats the host and the port.
  const request = 'CONNECT %%s:%%s HTTP/1.1\\r\\nHost: %%s:%%s\\r\\n\\r\\n'
  const script = [
    `exec 3<>/dev/tcp/127.0.0.1/${port} || exit 1`,
    `printf "${request}" "$0" "$1" "$0" "$1" >&3`,
    'IFS= read -r status <&3',
    `while IFS= read -r line <&3 && [ \${#line} -gt 1 ]; do :; done`,
    'case $status in *" 200 "*) cat <&3 & exec cat >&3 ;; esac',
    'exit 1',
  ].join('; ')
  const option = `ProxyCommand=bash -c '${script}' %h %p`
  return { GIT_SSH_COMMAND: `ssh -o '${option.replaceAll("'", "'\\''")}'` }
}

/** Variables that make package managers fail at once where there is no network, instead of waiting for it. */
export const offlineEnvironment: Readonly<Record<string, string>> = {
  npm_config_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  YARN_ENABLE_NETWORK: '0',
  COREPACK_ENABLE_NETWORK: '0',
  PIP_NO_INDEX: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  UV_OFFLINE: '1',
  CARGO_NET_OFFLINE: 'true',
  GOPROXY: 'off',
}
