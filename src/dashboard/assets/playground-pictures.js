/** Pictures that go with a message: chosen or pasted, shown with a button to take them out again. */

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const PICTURES_MAX = 4
/** Maximum bytes of one picture: base64 adds a third, and four pictures must fit into a request. */
const BYTES_MAX = 3_500_000

/**
 * @param {HTMLElement} list
 * @param {(fault: string) => void} refuse shows what is wrong; '' removes it
 * @param {() => void} changed
 */
export function createPictures(list, texts, refuse, changed) {
  let urls = []

  function show() {
    list.replaceChildren(
      ...urls.map((url, index) => {
        const item = document.createElement('li')
        const image = item.appendChild(document.createElement('img'))
        image.src = url
        image.alt = `${texts.picture} ${index + 1}`
        const button = item.appendChild(document.createElement('button'))
        button.type = 'button'
        button.className = 'button quiet small'
        button.textContent = texts.remove
        button.setAttribute('aria-label', `${texts.remove}: ${image.alt}`)
        button.addEventListener('click', () => {
          urls = urls.filter(other => other !== url)
          show()
        })
        return item
      }),
    )
    list.hidden = urls.length === 0
    changed()
  }

  return {
    get urls() {
      return urls
    },
    clear() {
      urls = []
      show()
    },
    /** Puts back pictures that were taken from the list. */
    restore(taken) {
      urls = taken
      show()
    },
    async add(files) {
      refuse('')
      // The browser empties its list once the field is cleared, and pictures may come and go while one is being read.
      for (const file of [...files]) {
        if (!TYPES.includes(file.type)) refuse(texts.notPicture)
        else if (file.size > BYTES_MAX || urls.length >= PICTURES_MAX) refuse(texts.tooLarge)
        else {
          const url = await dataUrlOf(file)
          urls = [...urls, url]
        }
      }
      show()
    },
  }
}

function dataUrlOf(file) {
  const { promise, resolve, reject } = Promise.withResolvers()
  const reader = new FileReader()
  reader.onload = () => resolve(reader.result)
  reader.onerror = () => reject(reader.error)
  reader.readAsDataURL(file)
  return promise
}
