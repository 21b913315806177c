/** Stacked bars per day from `data-chart`, in the stylesheet's colours, with a legend that follows the pointer. */
;(() => {
  const HEIGHT = 240

  function colours(element) {
    const style = getComputedStyle(element)
    return name => style.getPropertyValue(name).trim()
  }

  function short(value) {
    const [size, letter] = value >= 1e9 ? [1e9, 'B'] : value >= 1e6 ? [1e6, 'M'] : value >= 1e3 ? [1e3, 'K'] : [1, '']
    return `${+(value / size).toFixed(2)}${letter}`.replace('.', ',')
  }

  function full(value, unit) {
    const [whole, fraction] = String(value >= 1000 ? Math.trunc(value) : +value.toFixed(6)).split('.')
    const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, '.')
    return `${grouped}${fraction ? `,${fraction}` : ''}${unit ? `\u00a0${unit}` : ''}`
  }

  function day(text) {
    const [, month, date] = text.split('-')
    return `${date}/${month}`
  }

  function draw(element) {
    const { days, series, unit } = JSON.parse(element.dataset.chart)
    const colour = colours(element)
    const positions = days.map((_, index) => index)
    // Each series is drawn on top of the earlier ones, so start with the highest sum.
    const sums = []
    for (const [index, { values }] of series.entries()) {
      sums.push(values.map((value, position) => value + (sums[index - 1]?.[position] ?? 0)))
    }
    const order = series.map((_, index) => index).reverse()
    const plot = element.querySelector('.plot')
    const legend = element.querySelector('.legend')
    plot.replaceChildren()
    const bars = uPlot.paths.bars({ size: [0.7, 36], radius: 0.12 })
    const axis = { stroke: colour('--ink-soft'), ticks: { show: false }, font: `12px ${colour('--sans')}` }
    const options = {
      width: plot.clientWidth,
      height: HEIGHT,
      padding: [12, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: () => [-0.6, days.length - 0.4] },
        y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.08 : 1] },
      },
      axes: [
        {
          ...axis,
          size: 28,
          grid: { show: false },
          space: 56,
          incrs: [1, 2, 5, 7, 14, 30, 60, 90],
          values: (_, ticks) => ticks.map(tick => (days[tick] ? day(days[tick]) : '')),
        },
        { ...axis, size: 56, grid: { stroke: colour('--line'), width: 1 }, values: (_, ticks) => ticks.map(short) },
      ],
      series: [
        {},
        ...order.map(index => ({
          fill: colour(`--series-${index + 1}`),
          stroke: 'transparent',
          width: 0,
          paths: bars,
          points: { show: false },
        })),
      ],
      hooks: { setCursor: [chart => tell(chart.cursor.idx ?? null)] },
    }
    function tell(position) {
      const at = position === null ? null : days[position]
      legend.querySelector('.legend-day').textContent = at === null ? '' : day(at)
      for (const [index, item] of [...legend.querySelectorAll('li')].entries()) {
        const { values } = series[index]
        const value = position === null ? values.reduce((sum, each) => sum + each, 0) : values[position]
        item.querySelector('b').textContent = full(value, unit)
      }
    }
    const chart = new uPlot(options, [positions, ...order.map(index => sums[index])], plot)
    tell(null)
    return chart
  }

  let charts = []

  /** Draws new charts on the page and discards removed ones. */
  function scan() {
    charts = charts.filter(({ element, chart }) => element.isConnected || chart.destroy())
    for (const element of document.querySelectorAll('[data-chart]')) {
      if (!charts.some(item => item.element === element)) charts.push({ element, chart: draw(element) })
    }
  }

  function redraw() {
    for (const item of charts) {
      item.chart.destroy()
      item.chart = draw(item.element)
    }
  }

  scan()
  document.addEventListener('htmx:after:swap', scan)
  document.addEventListener('themechange', redraw)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw)
  addEventListener('resize', () => {
    for (const { element, chart } of charts) {
      chart.setSize({ width: element.querySelector('.plot').clientWidth, height: HEIGHT })
    }
  })
})()
