// Makes the page quicker to use; everything on it can be read without.

const nav = document.querySelector('nav')
const links = [...nav.querySelectorAll('li:not(.group) a')]

addSearch()
addCopyButtons()
markCurrent()

function addSearch() {
  const input = Object.assign(document.createElement('input'), {
    type: 'search',
    placeholder: 'Search paths, fields, codes',
  })
  input.setAttribute('aria-label', 'Search')
  const none = Object.assign(document.createElement('p'), {
    className: 'none',
    textContent: 'Nothing has that name.',
    hidden: true,
  })
  nav.querySelector('.name').after(input, none)
  const texts = links.map((link) => `${link.textContent.toLowerCase()} ${link.dataset.words}`)

  function search() {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean)
    links.forEach((link, at) => {
      link.parentElement.hidden = !words.every((word) => texts[at].includes(word))
    })
    for (const group of nav.querySelectorAll('.group')) {
      group.hidden = !group.parentElement.querySelector('li:not(.group):not([hidden])')
    }
    none.hidden = links.some((link) => !link.parentElement.hidden)
  }

  input.addEventListener('input', search)
  input.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') links.find((link) => !link.parentElement.hidden)?.click()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.matches('input')) return
    event.preventDefault()
    input.select()
  })
}

function addCopyButtons() {
  for (const figure of document.querySelectorAll('figure')) {
    const code = figure.querySelector('code')
    if (figure.querySelector('.curl')) {
      code.textContent = code.textContent.replace('$BASE_URL', location.origin)
    }
    const button = Object.assign(document.createElement('button'), {
      type: 'button',
      textContent: 'Copy',
    })
    button.addEventListener('click', async () => {
      button.textContent = (await copy(code)) ? 'Copied' : 'Select and copy'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
    figure.append(button)
  }
}

// Browsers give pages the clipboard over HTTPS and on localhost only; elsewhere the text is selected.
async function copy(code) {
  try {
    await navigator.clipboard.writeText(code.textContent)
    return true
  } catch {
    getSelection().selectAllChildren(code)
    return false
  }
}

function markCurrent() {
  const byId = new Map(links.map((link) => [link.hash.slice(1), link]))
  const observer = new IntersectionObserver(
    (entries) => {
      const shown = entries.find(({ isIntersecting }) => isIntersecting)
      if (!shown) return
      nav.querySelector('[aria-current]')?.removeAttribute('aria-current')
      const link = byId.get(shown.target.id)
      link.setAttribute('aria-current', 'true')
      if (!nav.matches(':hover')) link.scrollIntoView({ block: 'nearest' })
    },
    { rootMargin: '-10% 0px -80% 0px' },
  )
  for (const id of byId.keys()) {
    const target = document.getElementById(id)
    if (target) observer.observe(target)
  }
}
