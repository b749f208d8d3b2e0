// Builds the site of the pages below DOORBELL_HOME in this folder, and checks what came out.
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { build } from 'vitepress'
import { placeOf, stage } from './pages.mjs'

const root = process.env.DOORBELL_HOME
const site = resolve('html')
for (const made of ['pages', 'html']) rmSync(made, { recursive: true, force: true })
const { pages } = stage(root, 'pages')
await build('.')

const ids = new Map()
/** The anchors of a page of the site. */
function anchors(file) {
  if (!ids.has(file)) {
    ids.set(file, new Set([...readFileSync(file, 'utf8').matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)))
  }
  return ids.get(file)
}

const wrong = []
for (const page of pages) {
  const file = join(site, placeOf(page).replace(/\.md$/, '.html'))
  if (!existsSync(file)) wrong.push(`${page} has no page`)
}
for (const name of readdirSync(site, { recursive: true }).filter((file) => file.endsWith('.html'))) {
  const file = join(site, name)
  for (const [, tag, attributes] of readFileSync(file, 'utf8').matchAll(/<(a|img|link|script|source)\s([^>]*)>/g)) {
    const address = / (?:href|src)="([^"]*)"/.exec(` ${attributes}`)?.[1]
    if (!address || address.startsWith('data:') || address.startsWith('mailto:')) continue
    if (/^([a-z]+:)?\/\//.test(address)) {
      if (tag !== 'a') wrong.push(`${name}: ${tag} from elsewhere, ${address}`)
      continue
    }
    const [path, anchor] = decodeURI(address).split('#')
    let target = path === '' ? file : path.startsWith('/') ? join(site, path) : join(dirname(file), path)
    if (path.endsWith('/')) target = join(target, 'index.html')
    if (!existsSync(target)) wrong.push(`${name}: ${address}`)
    else if (anchor && target.endsWith('.html') && !anchors(target).has(decodeURIComponent(anchor))) {
      wrong.push(`${name}: ${address}, no such heading in ${relative(site, target)}`)
    }
  }
}
if (wrong.length) {
  console.error(`the site is wrong in ${wrong.length} places:\n${wrong.join('\n')}`)
  process.exit(1)
}
