import TurndownService from 'turndown'

/** Elements that are not text of the page. */
const REMOVED_ELEMENTS = [
  'script',
  'style',
  'noscript',
  'template',
  'iframe',
  'object',
  'embed',
  'svg',
  'canvas',
  'form',
  'title',
] as const

export interface HtmlPage {
  readonly html: string
  /** URL of the page, to resolve its links. */
  readonly url: string
}

export interface MarkdownPage {
  readonly title: string
  readonly text: string
}

/** Converts a page to Markdown, with its title. May be slow: `readPage` runs it in a thread. */
export function toMarkdown({ html, url }: HtmlPage): MarkdownPage {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
  })
  service.remove((node) => REMOVED_ELEMENTS.some((name) => name === node.nodeName.toLowerCase()))
  service.addRule('images', { filter: 'img', replacement: (_, node) => formatImage(node) })
  service.addRule('links', {
    filter: (node) => node.nodeName === 'A' && node.hasAttribute('href'),
    replacement: (text, node) => formatLink(text, node, url),
  })
  return { title: extractTitle(html), text: service.turndown(html) }
}

function extractTitle(html: string): string {
  const [, title = ''] = /<title[^>]*>([^<]{0,1000})/i.exec(html) ?? []
  return new TurndownService({ headingStyle: 'atx' }).turndown(title).replaceAll(/\s+/g, ' ').trim()
}

/** Formats the description of an image without its URL, which models cannot use. */
function formatImage(node: TurndownService.Node): string {
  const alt = getAttribute(node, 'alt').trim()
  return alt === '' ? '' : `![${alt}]`
}

/** Formats a link with its absolute address; of a link to anything but the web or mail, the text alone. */
function formatLink(text: string, node: TurndownService.Node, base: string): string {
  const target = getAttribute(node, 'href')
  const url = URL.canParse(target, base) ? new URL(target, base) : undefined
  const label = text.trim()
  if (label === '' || url === undefined || !/^(?:https?|mailto):$/.test(url.protocol)) return text
  return `[${label}](${url.href})`
}

function getAttribute(node: TurndownService.Node, name: string): string {
  return 'getAttribute' in node ? (node.getAttribute(name) ?? '') : ''
}
