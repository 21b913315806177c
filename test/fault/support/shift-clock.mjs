/**
 * Loaded before the program (`--import`). Sets the program's clock CLOCK_SHIFT_MS off the true time; each SIGUSR2 reverses the
 * direction.
 */

const RealDate = Date
const size = Number(process.env.CLOCK_SHIFT_MS)
let shift = size

process.on('SIGUSR2', () => {
  shift = -shift
})

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + shift)
    else super(...given)
  }

  static now() {
    return RealDate.now() + shift
  }
}
